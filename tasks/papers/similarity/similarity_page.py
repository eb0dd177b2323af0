"""The similarity track's tables as Markdown that is also read in a terminal.

In: frames of schemas `tasks.papers.similarity.similarity.TABLE` and `DIFFERENCES`. Measures
nothing. For want of room it leaves out some figures of `table.csv`.
"""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from tasks.pipeline.report.names import (
    Table,
    count,
    crossed,
    markdown_page,
    share,
    signed,
    with_interval,
)

SENTENCES = ("pearson", "mean_squared_error")
DISPLAYED = {
    "sample_words": ("spearman",),
    "simlex": ("spearman",),
    "msrp": ("accuracy",),
    "sts_mean": ("pearson",),
}
"""Test -> its measures on the page; `SENTENCES` of any other."""
METRICS = {
    "pearson": "r",
    "spearman": "ρ",
    "mean_squared_error": "MSE, lower is better",
    "accuracy": "accuracy",
}
NOTE = (
    "Pearson's r and Spearman's ρ of predicted and given scores; MSE of scores brought to 0–1, for "
    "systems that were trained on scores; accuracy with the threshold that is best on validation "
    "pairs. In brackets the 95 % interval, over pairs, of the mean over seeds; ± is the deviation "
    "over seeds. No system was trained on a pair of any test."
)


def as_markdown(table: pl.DataFrame, differences: pl.DataFrame) -> str:
    """Write the whole page; parts without a row are left out."""
    single = pl.col("test").str.contains("/", literal=True)
    return markdown_page(
        "# Similarity: systems on pairs that people scored",
        _by_measure(table.filter(~single), "trained_on", "value", share),
        NOTE,
        {
            "## STS, set by set: Pearson's r": _sets(table.filter(single)),
            "## Gains over the first system of the same training data, paired": _by_measure(
                differences.filter(~single), "over", "difference", signed
            ),
        },
    )


def _by_measure(
    rows: pl.DataFrame, beside: str, value: str, written: Callable[[float], str]
) -> Table:
    """Lay systems down, each with the column `beside`; tests and their measures across."""
    sizes = dict(rows.select("test", "n").iter_rows())
    measured = set(rows.select("test", "metric").iter_rows())
    columns = {
        (test, metric): f"{test} {METRICS[metric]} (n {count(size)})"
        for test, size in sizes.items()
        for metric in DISPLAYED.get(test, SENTENCES)
        if (test, metric) in measured
    }
    cells = {
        ((row["system"], row[beside]), (row["test"], row["metric"])): with_interval(
            row[value], row, written
        )
        for row in rows.iter_rows(named=True)
    }
    return ["system", beside.replace("_", " "), *columns.values()], crossed(cells, columns)


def _sets(rows: pl.DataFrame) -> Table:
    values = rows.filter(metric="pearson")
    systems = list(dict.fromkeys(values["system"]))
    cells = {
        ((row["test"], count(row["n"])), row["system"]): ""
        if (value := row["value"]) is None
        else share(value)
        for row in values.iter_rows(named=True)
    }
    return ["set", "n", *systems], crossed(cells, systems)
