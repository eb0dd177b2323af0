"""The section on titles that review queues drew at random: right as served, right now, by week.

A title counts in the week of its first review. It is right as served if the model of that week
answered the occupation that people's verdicts agree on, and wrong if it abstained. Only held-out
titles with a known occupation count: the report's network has not learned from any of them.
"""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

import polars as pl
from markupsafe import Markup
from matplotlib.axes import Axes

from models.metrics.intervals import wilson_interval
from tasks.pipeline.feedback.reader import ABSTAINED, ANSWERED, RANDOM
from tasks.pipeline.report.names import count, with_interval
from tasks.pipeline.report.page import BLUE, GREY, ORANGE, drawing, section, strong
from tasks.pipeline.report.report_data import ReportData

VERSION = 8  # characters of a model's hash that tell versions apart
NOT_RECORDED = "not recorded"
LABELS = 8  # weeks that are named below the plot
MEANING = (
    "share of random titles answered correctly by week of review, as served and now, with 95 % "
    "intervals; the table below has the figures"
)
CURVES = (  # counts, of how many, colour, line, shift to the right in weeks, and label
    ("right", "recorded", BLUE, "o-", 0.0, "as served"),
    ("now", "titles", ORANGE, "s--", 0.08, "now"),
)


def weeks(report_data: ReportData) -> Markup:
    """Make the section: a curve and a table of both shares by week."""
    titles = random_titles(report_data)
    if titles.is_empty():
        return section("weeks", rows=[])
    by_week, recorded = weekly(titles), titles.drop_nulls("right")
    right, now = recorded.filter("right"), recorded.filter("now")
    return section(
        "weeks",
        titles=len(titles),
        recorded=len(recorded),
        right=len(right),
        now=len(now),
        repaired=len(now.filter(~pl.col("right"))),
        broken=len(right.filter(~pl.col("now"))),
        drawing=_drawing(by_week) if len(recorded) else "",
        rows=_rows(by_week),
    )


def random_titles(report_data: ReportData) -> pl.DataFrame:
    """Return `normalized, week, model_version, abstained, right, now`, a row a title.

    `week`: its Monday; `abstained` and `right` are as served, null where that is not recorded.
    """
    dated = report_data.verdicts.filter(chosen_by=RANDOM).drop_nulls("judged_at")
    by_date = dated.sort("judged_at", maintain_order=True)
    drawn = by_date.unique("normalized", keep="first", maintain_order=True)
    known = report_data.resolutions.filter("held_out").drop_nulls("occupation_id")
    gold = known.unique("normalized", keep="first").rename({"occupation_id": "gold"})
    columns = ["normalized", "cleaned", "gold"]
    titles = drawn.join(gold[columns], on="normalized", maintain_order="left")
    answers = report_data.answers(titles["cleaned"].to_list(), report_data.ood_threshold)
    is_gold = pl.col("predicted_occupation_id") == pl.col("gold")
    is_right = (pl.col("served") == ANSWERED) & is_gold
    return titles.select(
        "normalized",
        pl.col("judged_at").str.head(10).str.to_date().dt.truncate("1w").alias("week"),
        pl.col("model_version").str.head(VERSION),
        abstained=pl.col("served") == ABSTAINED,
        right=pl.when(pl.col("served").is_not_null()).then(is_right.fill_null(value=False)),
        now=answers == titles["gold"],
    )


def weekly(titles: pl.DataFrame) -> pl.DataFrame:
    """Return the weeks in order: `week, models, abstained, right, now, titles, recorded, is_new`.

    `abstained` to `recorded` are counts; `is_new` marks weeks with a model that was not there.
    """
    by_week = titles.group_by("week").agg(
        pl.col("model_version").drop_nulls().unique().sort().alias("models"),
        pl.col("abstained", "right", "now").sum(),
        titles=pl.len(),
        recorded=pl.col("right").count(),
    )
    before = pl.col("models").shift(1)
    added = pl.col("models").list.set_difference(before).list.len()
    is_new = (added > 0) & (before.list.len() > 0)
    return by_week.sort("week").with_columns(is_new=is_new.fill_null(value=False))


def _drawing(by_week: pl.DataFrame) -> Markup:
    """Draw both shares by week, a line where a new model begins."""
    rows = by_week.to_dicts()
    positions = [(row["week"] - rows[0]["week"]).days / 7 for row in rows]

    def plot(axes: Axes) -> None:
        for count_of, n_of, colour, line, shift, label in CURVES:
            bars = (_bar(row[count_of], row[n_of]) for row in rows)
            values, below, above = zip(*bars, strict=True)
            style: Any = {"color": colour, "label": label, "markersize": 4, "elinewidth": 1}
            shifted = [position + shift for position in positions]
            axes.errorbar(shifted, values, (below, above), fmt=line, **style)
        began = [at - 0.5 for at, row in zip(positions, rows, strict=True) if row["is_new"]]
        for number, position in enumerate(began):
            label = "_" if number else "new model"
            axes.axvline(position, color=GREY, linestyle=":", linewidth=1, label=label)
        step = -(-len(rows) // LABELS)
        axes.set_xticks(positions[::step], [f"{row['week']:%G-W%V}" for row in rows[::step]])
        axes.set(xlim=(-0.6, positions[-1] + 0.6), ylim=(0, 1))
        axes.set(xlabel="week of review", ylabel="share answered correctly")
        axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=len(CURVES) + 1)

    return drawing("weeks", MEANING, plot, width=6.4)


def _bar(right: int, n: int) -> tuple[float, float, float]:
    """Return a share and how far its interval reaches below and above; NaN without a title."""
    if not n:
        return (math.nan,) * 3
    interval = wilson_interval(right, n)
    return interval.value, interval.value - interval.low, interval.high - interval.value


def _rows(by_week: pl.DataFrame) -> list[tuple[object, ...]]:
    rows: list[tuple[object, ...]] = []
    for row in by_week.iter_rows(named=True):
        models, titles = ", ".join(row["models"]) or NOT_RECORDED, row["titles"]
        name = strong(f"{models} (new)") if row["is_new"] else models
        abstained = count(row["abstained"]) if row["recorded"] else ""
        shares = _share(row["right"], row["recorded"], titles), _share(row["now"], titles, titles)
        rows.append((f"{row['week']:%G-W%V}", name, count(titles), abstained, *shares))
    return rows


def _share(right: int, n: int, titles: int) -> str:
    if not n:
        return NOT_RECORDED
    interval = asdict(wilson_interval(right, n))
    return with_interval(interval["value"], interval) + (f" of {count(n)}" if n != titles else "")
