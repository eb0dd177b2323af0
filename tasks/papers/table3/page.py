"""Table 3, its effects and whether `verdicts` keeps up, as Markdown that a terminal shows as well.

In: frames of schemas `stage.SUMMARY`, `effects.EFFECTS` and `effects.KEPT_UP`. Mixes have the
numbers of the paper's models beside them.
"""

from __future__ import annotations

from typing import Any

import polars as pl

from models.metrics.intervals import MARGIN
from tasks.io.mixes import LAST, PAPER_NUMBERS, VERDICTS
from tasks.pipeline.report.names import (
    SLICES,
    TESTS,
    Table,
    count,
    crossed,
    in_order,
    markdown_page,
    signed,
    slice_name,
    test_name,
    with_interval,
)

ACCURACY = pl.col("metric") == "success_at_1"
WHOLE = pl.col("slice") == "all"
NOTE = (
    "Beside each test is the paper's figure, of its own data. The n-gram matcher chose the queries "
    "of Extra Words: its 1.000 there is by construction. ± is the deviation over seeds."
)


def as_markdown(summary: pl.DataFrame, effects: pl.DataFrame, kept_up: pl.DataFrame) -> str:
    """Write the whole page; parts without a row are left out."""
    accuracy = summary.filter(ACCURACY)
    return markdown_page(
        "# Table 3: success@1, with its 95 % interval over queries",
        _systems(accuracy.filter(WHOLE)),
        NOTE,
        {
            "## Parts of the tests": _parts(accuracy),
            "## Gains of each mix over another, paired": _gains(effects.filter(ACCURACY & WHOLE)),
            "## Share of errors removed on its own test": _removed(effects.filter(ACCURACY, "own")),
            f"## Whether {VERDICTS} keeps up with {LAST}, margin {MARGIN}": _kept(kept_up),
        },
    )


def _systems(rows: pl.DataFrame) -> Table:
    """Lay systems down, tests across; the paper's figures stand behind each test that has some."""
    sizes = dict(rows.select("test", "n").iter_rows())
    printed = set(rows.drop_nulls("paper")["test"])
    columns = {}
    for test in in_order(sizes, TESTS):
        columns[test, "mean"] = f"{test_name(test)} (n {count(sizes[test])})"
        if test in printed:
            columns[test, "paper"] = "paper"
    cells = {}
    for row in rows.iter_rows(named=True):
        name = (_numbered(row["system"]),)
        cells[name, (row["test"], "mean")] = with_interval(row["mean"], row)
        cells[name, (row["test"], "paper")] = _share(row["paper"])
    return ["system", *columns.values()], crossed(cells, columns)


def _parts(accuracy: pl.DataFrame) -> Table:
    several = pl.col("slice").n_unique().over("test") > 1
    rows = accuracy.filter(pl.col("slice").str.starts_with("source:")).filter(several)
    sizes = {(test, part): n for test, part, n in rows.select("test", "slice", "n").iter_rows()}
    columns = {
        (test, part): f"{_named(test, part)} (n {count(sizes[test, part])})"
        for test in in_order(rows["test"], TESTS)
        for part in in_order((name for of, name in sizes if of == test), SLICES)
    }
    cells = {
        ((_numbered(row["system"]),), (row["test"], row["slice"])): with_interval(row["mean"], row)
        for row in rows.iter_rows(named=True)
    }
    return ["system", *columns.values()], crossed(cells, columns)


def _gains(rows: pl.DataFrame) -> Table:
    """Lay comparisons down, seed by seed; tests across."""
    tests = in_order(rows["test"], TESTS)
    cells = {
        (_compared(row), row["test"]): with_interval(row["gain"], row, signed)
        for row in rows.iter_rows(named=True)
    }
    return ["model", "over", "seed", *map(test_name, tests)], crossed(cells, tests)


def _removed(rows: pl.DataFrame) -> Table:
    head = ["model", "over", "seed", "test", "gain", "above 0", "errors removed", "paper"]
    return head, [
        [
            *_compared(row),
            test_name(row["test"]),
            with_interval(row["gain"], row, signed),
            "yes" if row["low"] > 0 else "no",
            _share(row["errors_removed"]),
            _share(row["paper_errors_removed"]),
        ]
        for row in rows.iter_rows(named=True)
    ]


def _kept(rows: pl.DataFrame) -> Table:
    head = ["model", "over", "seed", "test", "difference", "lower end", "n", "keeps up"]
    return head, [
        [
            *_compared(row),
            _named(row["test"], row["slice"]),
            signed(row["difference"]),
            signed(row["low"]),
            count(row["n"]),
            "yes" if row["passed"] else "no",
        ]
        for row in rows.iter_rows(named=True)
    ]


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}".replace("-", "−")


def _compared(row: dict[str, Any]) -> tuple[str, str, str]:
    return _numbered(row["system"]), _numbered(row["over"]), str(row["seed"])


def _named(test: str, part: str) -> str:
    return test_name(test) if part == "all" else f"{test_name(test)}, {slice_name(part)}"


def _numbered(system: str) -> str:
    """Return a mix with the number of the paper's model, such as `extra_words (3)`."""
    return f"{system} ({PAPER_NUMBERS[system]})" if system in PAPER_NUMBERS else system
