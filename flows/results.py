"""The result table of a run, as text for a terminal and as Markdown for Prefect's page.

Reads `data/evaluate/K/table.csv` (`system, test, slice, metric, value, low, high, n`) with the
standard library; shows two metrics with their intervals, over all queries. Computes nothing.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

import yaml

METRICS = ("success_at_1", "mrr")
HEAD = ("system", "test", *METRICS, "n")
REPORT = Path("data/report/report.html")

Row = tuple[str, ...]


def stage_number(root: Path) -> int:
    """The k of `params.yaml` that the target `report` evaluates."""
    return int(yaml.safe_load((root / "params.yaml").read_text(encoding="utf-8"))["stage"])


def result_rows(table: Path) -> list[Row]:
    """One row per (system, test) in the file's order, with the columns of `HEAD`."""
    rows: dict[tuple[str, str], dict[str, str]] = {}
    with table.open(encoding="utf-8", newline="") as lines:
        for line in csv.DictReader(lines):
            if line["slice"] == "all" and line["metric"] in METRICS:
                row = rows.setdefault((line["system"], line["test"]), {"n": line["n"]})
                row[line["metric"]] = _interval(line)
    return [(*key, *(row.get(name, "") for name in HEAD[2:])) for key, row in rows.items()]


def _interval(line: dict[str, str]) -> str:
    value = f"{float(line['value']):.3f}"
    if not line["low"] or not line["high"]:
        return value
    return f"{value} [{float(line['low']):.3f}, {float(line['high']):.3f}]"


def as_text(rows: Sequence[Row], head: Row = HEAD) -> str:
    """Columns aligned with spaces, for a terminal."""
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    padded = (
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        for row in (head, *rows)
    )
    return "\n".join(line.rstrip() for line in padded)


def as_markdown(rows: Sequence[Row], head: Row = HEAD) -> str:
    """A Markdown table; a `|` inside a cell is escaped."""
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join(
        "| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines
    )
