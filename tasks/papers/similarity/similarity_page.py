"""The similarity track's tables as Markdown that is also read in a terminal.

In: frames of schemas `tasks.papers.similarity.similarity.TABLE` and `DIFFERENCES`. Measures
nothing; every figure of `table.csv` that is not shown here is left out for want of room.
"""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from tasks.pipeline.report.names import aligned, count, share, signed, titled

SENTENCES = ("pearson", "mean_squared_error")
SHOWN = {
    "sample_words": ("spearman",),
    "simlex": ("spearman",),
    "msrp": ("accuracy",),
    "sts_mean": ("pearson",),
}
"""Test -> the measures shown of it; `SENTENCES` of any other."""
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
Rows = list[list[str]]


def as_markdown(table: pl.DataFrame, differences: pl.DataFrame) -> str:
    """Write the whole page; parts without a row are left out."""
    single = pl.col("test").str.contains("/", literal=True)
    parts = [
        "# Similarity: systems on pairs that people scored",
        aligned(*_systems(table.filter(~single))),
        NOTE,
        *titled("## STS, set by set: Pearson's r", aligned(*_sets(table.filter(single)))),
        *titled(
            "## Gains over the first system of the same training data, paired",
            aligned(*_gains(differences.filter(~single))),
        ),
    ]
    return "\n\n".join(parts) + "\n"


def _columns(rows: pl.DataFrame) -> list[tuple[str, str, int]]:
    sizes = dict(rows.select("test", "n").iter_rows())
    return [
        (test, metric, size)
        for test, size in sizes.items()
        for metric in SHOWN.get(test, SENTENCES)
        if rows.filter((pl.col("test") == test) & (pl.col("metric") == metric)).height
    ]


def _heads(columns: list[tuple[str, str, int]]) -> list[str]:
    return [f"{test} {METRICS[metric]} (n {count(size)})" for test, metric, size in columns]


def _systems(rows: pl.DataFrame) -> tuple[list[str], Rows]:
    columns = _columns(rows)
    by_key = {(r["system"], r["test"], r["metric"]): r for r in rows.iter_rows(named=True)}
    systems = dict(rows.select("system", "trained_on").iter_rows())
    return ["system", "trained on", *_heads(columns)], [
        [name, data, *(_cell(by_key.get((name, test, metric))) for test, metric, _ in columns)]
        for name, data in systems.items()
    ]


def _cell(row: dict[str, float | None] | None) -> str:
    if row is None or row["value"] is None:
        return ""
    spread = f" ±{share(row['deviation'])}" if row["deviation"] is not None else ""
    return share(row["value"]) + spread + _interval(row, share)


def _interval(row: dict[str, float | None], written: Callable[[float], str]) -> str:
    low, high = row["low"], row["high"]
    return "" if low is None or high is None else f" [{written(low)}, {written(high)}]"


def _sets(rows: pl.DataFrame) -> tuple[list[str], Rows]:
    values = rows.filter(pl.col("metric") == "pearson")
    systems = list(dict.fromkeys(values["system"]))
    shown = {(r["test"], r["system"]): r["value"] for r in values.iter_rows(named=True)}
    sizes = dict(values.select("test", "n").iter_rows())
    return ["set", "n", *systems], [
        [test, count(size), *("" if (v := shown[test, s]) is None else share(v) for s in systems)]
        for test, size in sizes.items()
    ]


def _gains(rows: pl.DataFrame) -> tuple[list[str], Rows]:
    columns = _columns(rows)
    by_key = {(r["system"], r["test"], r["metric"]): r for r in rows.iter_rows(named=True)}
    over = dict(rows.select("system", "over").iter_rows())
    lines = []
    for name, base in over.items():
        cells = [by_key.get((name, test, metric)) for test, metric, _ in columns]
        shown = [signed(r["difference"]) + _interval(r, signed) if r else "" for r in cells]
        lines.append([name, base, *shown])
    return ["system", "over", *_heads(columns)], lines
