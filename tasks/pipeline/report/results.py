"""The sections on the tests: results and comparisons, coverage, and confusions.

Intervals are 95 % bootstrap ones. Comparisons are paired, over the same queries.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple
from math import floor
from typing import NamedTuple

import polars as pl
from markupsafe import Markup
from matplotlib.axes import Axes

from models.metrics.intervals import Interval
from tasks.pipeline.report import names
from tasks.pipeline.report.page import BLUE, GREEN, ORANGE, drawing, section, strong
from tasks.pipeline.report.report_data import ReportData

METRICS = ("success_at_1", "success_at_5", "mrr")
VERBS = {"better": "better", "worse": "worse", "inconclusive": "not clearly better or worse"}
MARK = Markup(
    '<svg class="mark" viewBox="0 0 240 14" preserveAspectRatio="none" width="240" height="14" '
    'aria-hidden="true">'
    '<g stroke="var(--{})"><line x1="2" x2="238" y1="7" y2="7" stroke="var(--line)"/>'
    '<line x1="{}" x2="{}" y1="7" y2="7" stroke-width="6" stroke-opacity=".4"/>'
    '<line x1="{}" x2="{}" y1="1" y2="13" stroke-width="2.5"/></g></svg>'
)
DIFFERENCE = Markup(
    '<span class="compared">{} <span class="{}">{}</span><br><small>95 %: {} … {}</small></span>'
)

LABELLED = "annotations"  # the test of labelled inputs, which come as raw as those of a consumer
LINES = {"ngram": (":", ORANGE), "tfidf": ("--", GREEN)}
STEPS = tuple(tenths / 10 for tenths in range(10, 0, -1))  # shares of the queries in the table

CONFUSED = (LABELLED, "heldout_alias")
TAKEN_FOR = 3
EXAMPLE = Markup("{} → <em>{}</em>")
EXAMPLES = pl.struct("raw_title", "title").unique(maintain_order=True).head(3)


class Comparison(NamedTuple):
    """Network less baseline on one test, success@1."""

    test: str
    baseline: str
    difference: Interval

    @property
    def verdict(self) -> str:
        """`better`, `worse` or `inconclusive`: where the interval lies relative to 0."""
        if self.difference.low > 0:
            return "better"
        return "worse" if self.difference.high < 0 else "inconclusive"


def results(report_data: ReportData) -> Markup:
    """Make the section of all systems on all tests, and of the network against each baseline."""
    whole = report_data.table.filter(slice="all")
    comparisons = compare(report_data)
    baselines = list(dict.fromkeys(c.baseline for c in comparisons))
    order = names.in_order((c.test for c in comparisons), names.TESTS)
    cells = {}
    for c in sorted(comparisons, key=lambda c: order.index(c.test)):
        value, low, high = map(names.signed, astuple(c.difference))
        difference = DIFFERENCE.format(value, c.verdict, c.verdict, low, high)
        cells[(names.test_name(c.test),), c.baseline] = difference
    return section(
        "results",
        standing=standing(comparisons),
        groups=[
            _group(test, whole.filter(test=test), report_data.mix)
            for test in names.in_order(whole["test"], names.TESTS)
        ],
        baselines=[f"less {names.baseline_name(baseline)}" for baseline in baselines],
        differences=names.crossed(cells, baselines),
    )


def compare(report_data: ReportData) -> list[Comparison]:
    """Compare the trained network with each baseline on each test, paired by query."""
    comparisons, scores = [], report_data.scores
    mine, others = scores.filter(system=report_data.mix), {*scores["system"]} - {report_data.mix}
    for baseline in names.in_order(others, names.BASELINES):
        theirs = scores.filter(system=baseline)
        both = mine.join(theirs, on=["test", "query_id"], suffix="_theirs").sort("query_id")
        for test in names.in_order(both["test"], names.TESTS):
            rows = both.filter(test=test)
            gains = rows["success_at_1"] - rows["success_at_1_theirs"]
            comparisons.append(Comparison(test, baseline, report_data.interval(gains, test)))
    return comparisons


def standing(comparisons: list[Comparison]) -> list[str]:
    """Say in a sentence for each baseline where the network stands against it."""
    sentences = []
    for baseline in dict.fromkeys(c.baseline for c in comparisons):
        tests: dict[str, list[str]] = {verdict: [] for verdict in VERBS}
        for c in comparisons:
            if c.baseline == baseline:
                difference = names.signed(c.difference.value)
                tests[c.verdict].append(f"{names.test_name(c.test)} ({difference})")
        parts = [f"{VERBS[verdict]} on {names.listed(on)}" for verdict, on in tests.items() if on]
        name = names.baseline_name(baseline)
        sentences.append(f"Against {name} the trained network is {'; it is '.join(parts)}.")
    return sentences


def _group(test: str, rows: pl.DataFrame, mix: str) -> tuple[str, str, list[list[object]]]:
    """Return the name of a test, its meaning and size, and the row of each system."""
    best = {m: names.share(v) for m, v in rows.group_by("metric").agg(pl.max("value")).iter_rows()}
    meaning = f": {names.TESTS[test][1]}" if test in names.TESTS else ""
    systems = [
        _system(system, rows.filter(system=system), best, system == mix)
        for system in names.in_order(rows["system"], names.BASELINES)
    ]
    size = names.counted(rows["n"][0], "query", "queries")
    return names.test_name(test), f"{meaning}. {size}.", systems


def _system(
    system: str, rows: pl.DataFrame, best: Mapping[str, str], is_network: bool
) -> list[object]:
    by_metric = {row["metric"]: row for row in rows.iter_rows(named=True)}
    values = {metric: names.share(by_metric[metric]["value"]) for metric in METRICS}
    accuracy, *others = (
        strong(value) if value == best[metric] else value for metric, value in values.items()
    )
    first, name = by_metric["success_at_1"], names.system_name(system)
    low, value, high = (
        f"{2 + 236 * min(max(first[end], 0), 1):.1f}" for end in ("low", "value", "high")
    )
    return [
        strong(name) if is_network else name,
        accuracy,
        f"{names.share(first['low'])} – {names.share(first['high'])}",
        MARK.format("blue" if is_network else "ink", low, high, value, value),
        *others,
    ]


def coverage(report_data: ReportData) -> Markup:
    """Make the section of accuracy against coverage on labelled inputs, by threshold."""

    def plot(axes: Axes) -> None:
        for system in (*LINES, report_data.mix):
            points = curve(surest_first(report_data.run, report_data.scores, system))
            line, colour = LINES.get(system, ("-", BLUE))
            label = names.system_name(system)
            axes.plot(points["answered"], points["right"], line, color=colour, label=label)
        axes.set(xlim=(0, 1), ylim=(0, 1.02), ylabel="share of those that are right")
        axes.set_xlabel("share of queries that are answered, the surest first")
        axes.legend(loc="lower left")

    by_score = surest_first(report_data.run, report_data.scores, report_data.mix)
    scores = by_score["score"].drop_nulls().to_numpy()
    meaning, rows = "share of right answers by share of answered queries", []
    if len(scores):
        # each threshold is the score of the last query of the share, rounded down as it is shown
        last = [min(max(round(part * by_score.height), 1), len(scores)) - 1 for part in STEPS]
        thresholds = [floor(float(scores[position]) * 1000) / 1000 for position in last]
        rows = [_threshold(by_score, one, report_data) for one in dict.fromkeys(thresholds)]
    return section(
        "coverage",
        test=names.test_name(LABELLED),
        queries=by_score.height,
        drawing=drawing("coverage", meaning, plot) if rows else "",
        rows=rows,
    )


def surest_first(run: pl.DataFrame, scores: pl.DataFrame, system: str) -> pl.DataFrame:
    """Return `score` (of rank 1), `success` of each labelled input, by score, null ones last."""
    first = run.filter(system=system, test=LABELLED, rank=1).select("query_id", "score")
    return (
        scores.filter(system=system, test=LABELLED)
        .join(first, on="query_id", how="left")
        .sort("score", "query_id", descending=[True, False], nulls_last=True)
        .select(pl.col("score").cast(pl.Float64), success="success_at_1")
    )


def curve(by_score: pl.DataFrame) -> pl.DataFrame:
    """Return each score as `threshold`, the share `answered` with it, and the share `right`."""
    answered = by_score.drop_nulls("score").group_by("score", maintain_order=True)
    return answered.agg(pl.len(), pl.col("success").sum()).select(
        threshold="score",
        answered=pl.col("len").cum_sum() / by_score.height,
        right=pl.col("success").cum_sum() / pl.col("len").cum_sum(),
    )


def _threshold(by_score: pl.DataFrame, threshold: float, report_data: ReportData) -> list[str]:
    success = by_score.filter(pl.col("score") >= threshold)["success"]
    interval = report_data.interval(success, "coverage", names.share(threshold))
    return [
        names.share(threshold),
        names.count(len(success)),
        names.percent(len(success) / by_score.height),
        f"{success.sum():.1f}".removesuffix(".0"),
        names.share(interval.value),
        f"{names.share(interval.low)} – {names.share(interval.high)}",
    ]


def confusions(report_data: ReportData) -> Markup:
    """Make the section of the worst occupations, and what they are taken for on which titles."""
    worst = by_occupation(report_data.run, report_data.queries, report_data.mix)
    frequent = worst.head(report_data.most_confusions)
    misses, covered = (int(rows["misses"].sum()) for rows in (worst, frequent))
    label, rows = report_data.label, []
    for row in frequent.iter_rows(named=True):
        gold = names.listed([label(occupation) for occupation in row["gold"]])
        taken = (f"{label(one['occupation_id'])} ({one['count']})" for one in row["taken_for"])
        titles = ((example["raw_title"], example["title"]) for example in row["examples"])
        examples = Markup("<br>").join(EXAMPLE.format(*both) for both in titles)
        rows.append((gold, row["misses"], row["queries"], ", ".join(taken), examples))
    return section(
        "confusions",
        tests=names.listed([names.test_name(test) for test in CONFUSED]),
        occupations=worst.height,
        misses=misses,
        share=covered / max(misses, 1),
        rows=rows,
    )


def by_occupation(run: pl.DataFrame, queries: pl.DataFrame, system: str) -> pl.DataFrame:
    """Count `gold, misses, queries, taken_for, examples`, the most and largest share first.

    Rank 1 of `system` on the tests `CONFUSED` is judged; several gold occupations stay one list.
    `taken_for` holds `occupation_id, count` of the most frequent wrong answers.
    """
    judged = pl.col("test").is_in(list(CONFUSED))
    total = queries.filter(judged).group_by(gold="occupation_ids").agg(queries=pl.len())
    wrong = (
        run.filter(judged, system=system, rank=1)
        .join(queries, on=["test", "query_id"], maintain_order="left")
        .rename({"occupation_ids": "gold"})
        .filter(~pl.col("gold").list.contains(pl.col("occupation_id")))
        .sort("test", "query_id")
    )
    answered = (
        wrong.group_by("gold", "occupation_id")
        .len("count")
        .sort("count", "occupation_id", descending=[True, False])
        .group_by("gold", maintain_order=True)
        .agg(taken_for=pl.struct("occupation_id", "count").head(TAKEN_FOR))
    )
    counted = wrong.group_by("gold", maintain_order=True).agg(misses=pl.len(), examples=EXAMPLES)
    order = ("misses", pl.col("misses") / pl.col("queries"), pl.col("gold").list.join("\t"))
    joined = counted.join(total, on="gold").join(answered, on="gold")
    return joined.sort(*order, descending=[True, True, False])
