"""Week by week: answers to random titles as they were served, and this network's answers to them.

The shares of `random_titles.py`, as a plot and a table.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl
from matplotlib.axes import Axes

from models.metrics.wilson import wilson_interval
from tasks.pipeline.report.drawing import BLUE, GREY, ORANGE, figure
from tasks.pipeline.report.markup import Html, NumberHead, lines, paragraph, table, tag
from tasks.pipeline.report.names import count, counted, share
from tasks.pipeline.report.random_titles import random_titles, weekly
from tasks.pipeline.report.report_data import ReportData

NONE = (
    "There is no dated review of a random input that neither a test nor training reads: answer "
    "the queue of `rolecall review`, a fifth of which is drawn at random, put the file into the "
    "feedback folder and run `rolecall retrain`."
)
HEAD = ("Week", "Model", *map(NumberHead, ("Titles", "Abstained", "Right as served", "Right now")))
NOT_RECORDED = "not recorded"
LABELS = 8  # weeks that are named below the plot
CURVES = (
    ("right", "recorded", BLUE, "o-", 0.0, "as served"),
    ("now", "titles", ORANGE, "s--", 0.08, "now"),
)
"""Counts, of how many, colour, line, shift to the right in weeks, and label."""


def weeks(report_data: ReportData) -> Html:
    """Make the content of section `weeks`."""
    titles = random_titles(report_data)
    if titles.is_empty():
        return paragraph(NONE)
    by_week, has_record = weekly(titles), titles["right"].count() > 0
    return lines(
        paragraph(
            "Titles of random inputs, by the week of their review; nothing has learned from them. "
            "As served: the answers of that week's model; an abstention is wrong. Now: this "
            "network's answers to the same titles. The first curve shows the effect of people's "
            "answers, retraining and promotions on the inputs that came later. Where both curves "
            "rise or fall, the week's inputs were easier or harder."
        ),
        *_recorded(titles),
        _plot(by_week) if has_record else "",
        _table(by_week),
        paragraph(
            "In brackets 95 % intervals (Wilson). Left out are titles without a date or a known "
            "right occupation, those that people call not a job title, and those that a test or "
            "training reads anyway. This network answers without look-up and spelling correction, "
            "and abstains only if a title is out of its domain: a least confidence of the run "
            "lowers the first figure alone.",
            class_="note",
        ),
    )


def _recorded(titles: pl.DataFrame) -> Iterator[Html]:
    """Compare the answers as served with those now, and say what is not recorded."""
    recorded = titles.drop_nulls("right")
    if recorded.is_empty():
        yield paragraph(
            "There is no curve of answers as served: the files of these weeks have no column "
            "“served”. The reviews of the next queue begin it."
        )
        return
    right, now = recorded.filter("right"), recorded.filter("now")
    repaired, broken = now.filter(~pl.col("right")), right.filter(~pl.col("now"))
    yield paragraph(
        f"Of {counted(len(recorded), 'title')} with a record, {count(len(right))} were answered "
        f"correctly as served and {count(len(now))} are now: {count(len(repaired))} repaired, "
        f"{count(len(broken))} broken."
    )
    if len(recorded) < len(titles):
        yield paragraph(
            "Weeks whose files have no column “served” have no point of the first curve."
        )


def _plot(by_week: pl.DataFrame) -> Html:
    """Draw both shares by week, a line where a new model begins."""
    rows = by_week.to_dicts()
    places = [(row["week"] - rows[0]["week"]).days / 7 for row in rows]

    def plot(axes: Axes) -> None:
        for count_of, n_of, colour, line, shift, label in CURVES:
            values, below, above = zip(
                *(_bar(row[count_of], row[n_of]) for row in rows), strict=True
            )
            axes.errorbar(
                [place + shift for place in places],
                values,
                (below, above),
                fmt=line,
                color=colour,
                label=label,
                markersize=4,
                elinewidth=1,
            )
        began = [place - 0.5 for place, row in zip(places, rows, strict=True) if row["is_new"]]
        for number, place in enumerate(began):
            label = "_" if number else "new model"
            axes.axvline(place, color=GREY, linestyle=":", linewidth=1, label=label)
        step = -(-len(rows) // LABELS)
        axes.set_xticks(places[::step], [_name(row) for row in rows[::step]])
        axes.set_xlim(-0.6, places[-1] + 0.6)
        axes.set_ylim(0, 1)
        axes.set_xlabel("week of review")
        axes.set_ylabel("share answered correctly")
        axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=len(CURVES) + 1)

    meaning = (
        "share of random titles answered correctly by week of review, as served and now, with "
        "95 % intervals; the table below has the figures"
    )
    caption = "Bars are 95 % intervals; dotted lines stand before weeks with a new model."
    return figure("weeks", meaning, caption, plot, width=6.4)


def _bar(right: int, n: int) -> tuple[float, float, float]:
    """Return a share and how far its interval reaches below and above; NaN without a title."""
    if not n:
        return (math.nan,) * 3
    interval = wilson_interval(right, n)
    return interval.value, interval.value - interval.low, interval.high - interval.value


def _table(by_week: pl.DataFrame) -> Html:
    rows = []
    for row in by_week.iter_rows(named=True):
        models = ", ".join(row["models"]) or NOT_RECORDED
        rows.append(
            (
                _name(row),
                tag("strong", f"{models} (new)") if row["is_new"] else models,
                count(row["titles"]),
                count(row["abstained"]) if row["recorded"] else "",
                _share(row["right"], row["recorded"], row["titles"]),
                _share(row["now"], row["titles"], row["titles"]),
            )
        )
    return table("Random titles by week of review", HEAD, rows)


def _share(right: int, n: int, titles: int) -> str:
    if not n:
        return NOT_RECORDED
    interval = wilson_interval(right, n)
    some = "" if n == titles else f" of {count(n)}"
    return f"{share(interval.value)} [{share(interval.low)}, {share(interval.high)}]{some}"


def _name(row: Mapping[str, Any]) -> str:
    return f"{row['week']:%G-W%V}"
