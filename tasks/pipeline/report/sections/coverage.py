"""Accuracy against coverage: the share of answered inputs, and of right answers, by threshold.

On the test `annotations`, whose queries are raw inputs as they come. A consumer who takes only
answers with a score of at least the threshold gets fewer of them, and more that are right. Ties
count by expectation; a query without any answer is never answered.
"""

from __future__ import annotations

from math import floor

import polars as pl
from matplotlib.axes import Axes

from models.metrics.intervals import bootstrap_interval
from models.reproducibility.seeding import child_seed
from tasks.pipeline.report.drawing import BLUE, SYSTEM_COLOURS, figure
from tasks.pipeline.report.markup import Html, NumberHead, lines, paragraph, table
from tasks.pipeline.report.names import count, percent, share, system_name, test_name
from tasks.pipeline.report.report_data import ReportData

TEST = "annotations"
LINES = {"ngram": ":", "tfidf": "--"}
STEPS = tuple(tenths / 10 for tenths in range(10, 0, -1))  # shares of the queries in the table


def coverage(report_data: ReportData) -> Html:
    """Make the content of section `coverage`."""
    by_score = surest_first(report_data.run, report_data.scores, report_data.trained)
    if by_score["score"].is_null().all():
        return paragraph(f"No query of {test_name(TEST)} is answered: there is no curve to draw.")
    return lines(
        paragraph(
            f"{count(by_score.height)} queries of {test_name(TEST)}. A title whose best score is "
            "below a threshold can be left to a person. Look for how much accuracy each share "
            "left out buys: a flat curve says that the score does not know when it is wrong. "
            "The threshold is the score of the answer as the registered model gives it, and holds "
            "for this model only."
        ),
        _by_coverage(report_data),
        _table(by_score, report_data),
    )


def surest_first(run: pl.DataFrame, scores: pl.DataFrame, system: str) -> pl.DataFrame:
    """Return `score, success` of each query of the test, the highest score first, null ones last.

    `run`: schema `RUN`; the score of rank 1 counts; `scores`: schema `SCORES`.
    """
    first = run.filter(system=system, test=TEST, rank=1).select("query_id", "score")
    return (
        scores.filter(system=system, test=TEST)
        .join(first, on="query_id", how="left")
        .sort("score", "query_id", descending=[True, False], nulls_last=True)
        .select(pl.col("score").cast(pl.Float64), success="success_at_1")
    )


def curve(by_score: pl.DataFrame) -> pl.DataFrame:
    """Return `threshold, answered, right` for each score as the threshold, the highest first.

    `by_score`: of `surest_first`.

    Returns:
        `answered` is the share of all queries whose score is `threshold` or more, `right` the share
        of those that are answered rightly. Equal scores are answered together.
    """
    answered = by_score.drop_nulls("score").group_by("score", maintain_order=True)
    return answered.agg(pl.len(), pl.col("success").sum()).select(
        threshold="score",
        answered=pl.col("len").cum_sum() / by_score.height,
        right=pl.col("success").cum_sum() / pl.col("len").cum_sum(),
    )


def _by_coverage(report_data: ReportData) -> Html:
    def plot(axes: Axes) -> None:
        for system in (*LINES, report_data.trained):
            points = curve(surest_first(report_data.run, report_data.scores, system))
            axes.plot(
                points["answered"],
                points["right"],
                LINES.get(system, "-"),
                color=SYSTEM_COLOURS.get(system, BLUE),
                label=system_name(system),
            )
        axes.set_xlim(0, 1)
        axes.set_xlabel("share of queries that are answered, the surest first")
        axes.set_ylabel("share of those that are right")
        axes.set_ylim(0, 1.02)
        axes.legend(loc="lower left")

    return figure(
        "coverage",
        "share of right answers by share of answered queries",
        "Higher is better; at the right end every query is answered.",
        plot,
    )


def _table(by_score: pl.DataFrame, report_data: ReportData) -> Html:
    scores = by_score["score"].drop_nulls().to_numpy()
    # each threshold is the score of the last query of the share, rounded down as the table shows it
    last = [min(max(round(part * by_score.height), 1), len(scores)) - 1 for part in STEPS]
    thresholds = [floor(float(scores[place]) * 1000) / 1000 for place in last]
    rows = [_row(by_score, threshold, report_data) for threshold in dict.fromkeys(thresholds)]
    head = ("Score at least", "Answered", "of all", "Right", "of answered", "95 % interval")
    caption = "Thresholds: the network at about every tenth of the queries"
    return table(caption, [NumberHead(name) for name in head], rows)


def _row(by_score: pl.DataFrame, threshold: float, report_data: ReportData) -> tuple[str, ...]:
    success = by_score.filter(pl.col("score") >= threshold)["success"].to_numpy()
    seed = child_seed(report_data.params.seed, "report", "coverage", share(threshold))
    interval = bootstrap_interval(success, report_data.params.evaluate.bootstrap_draws, seed)
    return (
        share(threshold),
        count(len(success)),
        percent(len(success) / by_score.height),
        f"{success.sum():.1f}".removesuffix(".0"),
        share(interval.value),
        f"{share(interval.low)} – {share(interval.high)}",
    )
