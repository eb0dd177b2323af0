"""Table 3, its effects and whether `verdicts` keeps up, as Markdown that a terminal shows as well.

In: frames of schemas `tables.SUMMARY`, `effects.EFFECTS` and `effects.KEPT_UP`. Mixes have the
numbers of the paper's models beside them.
"""

from __future__ import annotations

import polars as pl

from models.metrics.intervals import MARGIN
from tasks.io.mixes import LAST, PAPER_NUMBERS, VERDICTS
from tasks.papers.table3.paper import OWN_TEST
from tasks.pipeline.report.names import (
    SLICES,
    TESTS,
    aligned,
    count,
    in_order,
    share,
    signed,
    slice_name,
    titled,
)
from tasks.pipeline.report.names import test_name as name_of

Rows = list[list[str]]
ACCURACY = pl.col("metric") == "success_at_1"
WHOLE = pl.col("slice") == "all"
NOTE = (
    "Beside each test is the paper's figure, of its own data. The n-gram matcher chose the queries "
    "of Extra Words: its 1.000 there is by construction. ± is the deviation over seeds."
)


def as_markdown(summary: pl.DataFrame, effects: pl.DataFrame, kept_up: pl.DataFrame) -> str:
    """Write the whole page; parts without a row are left out."""
    accuracy = summary.filter(ACCURACY)
    parts = [
        "# Table 3: success@1, with its 95 % interval over queries",
        aligned(*_systems(accuracy.filter(WHOLE))),
        NOTE,
        *titled("## Parts of the tests", aligned(*_parts(accuracy))),
        *titled("## Gains of each mix over another, paired", aligned(*_gains(effects))),
        *titled("## Share of errors removed on its own test", aligned(*_removed(effects))),
        *titled(
            f"## Whether {VERDICTS} keeps up with {LAST}, margin {MARGIN}", aligned(*_kept(kept_up))
        ),
    ]
    return "\n\n".join(parts) + "\n"


def _systems(rows: pl.DataFrame) -> tuple[list[str], Rows]:
    """Lay systems down, tests across; the paper's figures stand behind each test that has some."""
    tests = in_order(rows["test"], TESTS)
    sizes = dict(rows.select("test", "n").iter_rows())
    printed = set(rows.filter(pl.col("paper").is_not_null())["test"])
    by_cell = {(row["system"], row["test"]): row for row in rows.iter_rows(named=True)}
    head = ["system"]
    for test in tests:
        head += [f"{name_of(test)} (n {count(sizes[test])})"] + ["paper"] * (test in printed)
    lines = []
    for system in dict.fromkeys(rows["system"]):
        line = [_numbered(system)]
        for test in tests:
            row = by_cell.get((system, test))
            line.append(_cell(row) if row else "")
            if test in printed:
                paper = row["paper"] if row else None
                line.append("" if paper is None else f"{paper:.2f}")
        lines.append(line)
    return head, lines


def _cell(row: dict[str, float]) -> str:
    spread = f" ±{share(row['deviation'])}" if row["deviation"] is not None else ""
    return f"{share(row['mean'])}{spread} [{share(row['low'])}, {share(row['high'])}]"


def _parts(accuracy: pl.DataFrame) -> tuple[list[str], Rows]:
    several = pl.col("slice").n_unique().over("test") > 1
    rows = accuracy.filter(pl.col("slice").str.starts_with("source:")).filter(several)
    sizes = {(test, split): n for test, split, n in rows.select("test", "slice", "n").iter_rows()}
    parts = [
        (test, split)
        for test in in_order(rows["test"], TESTS)
        for split in in_order((name for of, name in sizes if of == test), SLICES)
    ]
    by_cell = {(r["system"], r["test"], r["slice"]): r for r in rows.iter_rows(named=True)}
    head = ["system"] + [
        f"{_named(test, split)} (n {count(sizes[test, split])})" for test, split in parts
    ]
    return head, [
        [
            _numbered(system),
            *(_cell(row) if (row := by_cell.get((system, *key))) else "" for key in parts),
        ]
        for system in dict.fromkeys(rows["system"])
    ]


def _gains(effects: pl.DataFrame) -> tuple[list[str], Rows]:
    """Lay comparisons down, seed by seed; tests across."""
    rows = effects.filter(ACCURACY & WHOLE)
    tests = in_order(rows["test"], TESTS)
    by_cell = {
        (r["system"], r["over"], r["seed"], r["test"]): r for r in rows.iter_rows(named=True)
    }
    keys = dict.fromkeys((system, over, seed) for system, over, seed, _ in by_cell)
    return ["model", "over", "seed", *map(name_of, tests)], [
        [
            *map(_numbered, key[:2]),
            str(key[2]),
            *(_gain(row) if (row := by_cell.get((*key, t))) else "" for t in tests),
        ]
        for key in keys
    ]


def _gain(row: dict[str, float]) -> str:
    return f"{signed(row['gain'])} [{signed(row['low'])}, {signed(row['high'])}]"


def _removed(effects: pl.DataFrame) -> tuple[list[str], Rows]:
    rows = effects.filter(ACCURACY & pl.col("own"))
    head = ["model", "over", "seed", "test", "gain", "above 0", "errors removed", "paper"]
    return head, [
        [
            _numbered(row["system"]),
            _numbered(row["over"]),
            str(row["seed"]),
            name_of(OWN_TEST[row["system"]]),
            _gain(row),
            "yes" if row["low"] > 0 else "no",
            _share(row["errors_removed"]),
            _share(row["paper_errors_removed"]),
        ]
        for row in rows.iter_rows(named=True)
    ]


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}".replace("-", "−")


def _kept(kept_up: pl.DataFrame) -> tuple[list[str], Rows]:
    head = ["model", "over", "seed", "test", "difference", "lower end", "n", "keeps up"]
    return head, [
        [
            _numbered(row["system"]),
            _numbered(row["over"]),
            str(row["seed"]),
            _named(row["test"], row["slice"]),
            signed(row["difference"]),
            signed(row["low"]),
            count(row["n"]),
            "yes" if row["passed"] else "no",
        ]
        for row in kept_up.iter_rows(named=True)
    ]


def _named(test: str, split: str) -> str:
    return name_of(test) if split == "all" else f"{name_of(test)}, {slice_name(split)}"


def _numbered(system: str) -> str:
    """Return a mix with the number of the paper's model, such as `extra_words (3)`."""
    return f"{system} ({PAPER_NUMBERS[system]})" if system in PAPER_NUMBERS else system
