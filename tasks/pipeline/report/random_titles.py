"""Titles that a review queue drew at random: right as they were served, and right now, by week.

A title counts in the week of its first review. It is right as served if the model of that week
answered the occupation that people's verdicts agree on, and wrong if it abstained. Only held-out
titles with a known occupation count: the report's network has not learned from any of them.
"""

from __future__ import annotations

import polars as pl

from models.search.ood_score import OodScore
from tasks.pipeline.feedback.feedback_rows.cells import ABSTAINED, ANSWERED, RANDOM
from tasks.pipeline.report.report_data import ReportData

VERSION = 8  # characters of a model's hash that tell versions apart


def random_titles(report_data: ReportData) -> pl.DataFrame:
    """Return `normalized, week, model_version, abstained, right, now`, a row a title.

    `week`: its Monday; `abstained` and `right` are as served, null where that is not recorded.
    """
    drawn = (
        report_data.reviews.filter(chosen_by=RANDOM)
        .drop_nulls("judged_at")
        .sort("judged_at", maintain_order=True)
        .unique("normalized", keep="first", maintain_order=True)
    )
    known = report_data.judged.filter("held_out").drop_nulls("occupation_id")
    gold = known.unique("normalized", keep="first").select(
        "normalized", "cleaned", gold="occupation_id"
    )
    titles = drawn.join(gold, on="normalized", maintain_order="left")
    is_right = (pl.col("served") == ANSWERED) & (
        pl.col("predicted_occupation_id") == pl.col("gold")
    )
    return titles.select(
        "normalized",
        pl.col("judged_at").str.head(10).str.to_date().dt.truncate("1w").alias("week"),
        pl.col("model_version").str.head(VERSION),
        abstained=pl.col("served") == ABSTAINED,
        right=pl.when(pl.col("served").is_not_null()).then(is_right.fill_null(value=False)),
        now=answers_now(report_data, titles["cleaned"].to_list()) == titles["gold"],
    )


def answers_now(report_data: ReportData, titles: list[str]) -> pl.Series:
    """Return this network's answer to each cleaned title; empty where it abstains."""
    search, threshold = report_data.search, report_data.ood_threshold
    ood_score = OodScore.of(search.index.titles)
    answers: list[str] = []
    for block, hits in search.blocks(titles, 1):
        names = [search.index.occupations[first] for first in hits.occupations[:, 0]]
        if threshold is not None:
            unlike = ood_score(titles[block], hits.closest) > threshold
            names = ["" if one else name for one, name in zip(unlike, names, strict=True)]
        answers += names
    return pl.Series(answers, dtype=pl.String)


def weekly(titles: pl.DataFrame) -> pl.DataFrame:
    """Return the weeks in order: `week, models, is_new, titles, recorded, abstained, right, now`.

    The last four are counts, the latter three of those with a record but `now` of all; `is_new`
    marks weeks with a model that the week before had not.
    """
    counted_weeks = titles.group_by("week").agg(
        models=pl.col("model_version").drop_nulls().unique().sort(),
        titles=pl.len(),
        recorded=pl.col("right").count(),
        abstained=pl.col("abstained").sum(),
        right=pl.col("right").sum(),
        now=pl.col("now").sum(),
    )
    ordered = counted_weeks.sort("week")
    before = pl.col("models").shift(1)
    added = pl.col("models").list.set_difference(before).list.len()
    is_new = (added > 0) & (before.list.len() > 0)
    return ordered.with_columns(is_new=is_new.fill_null(value=False))
