"""Tidy rows chosen and put in order, for the sections of `docs/RESULTS.md`."""

from __future__ import annotations

from benchmarks.markdown_tables import Rows

ORDER = (
    "ngram",
    "tfidf",
    "untrained",
    "0",
    "1",
    "2",
    "3",
    "4",
    "4c",
    "gpu",
    "fast",
    "paper",
    "none",
    "weights",
    "each_step",
    "rolecall",
    "onnx",
    "plain_lstm",
)


def of(rows: Rows, *metrics: str) -> list[dict[str, str]]:
    """The rows of these metrics."""
    return [row for row in rows if row["metric"] in metrics]


def as_shares(rows: Rows) -> list[dict[str, str]]:
    """To be shown as success@1 is, with three decimals and their sign; counts stay as they are."""
    return [
        row
        if row["value"].isdigit() and int(row["value"]) > 1
        else {**row, "metric": "success_at_1"}
        for row in rows
    ]


def place(row: dict[str, str]) -> tuple[int, str]:
    """Where a system stands in every table: baselines, networks, then the rest by name."""
    system = row["system"]
    return (ORDER.index(system) if system in ORDER else len(ORDER)), system


def distinct(rows: Rows, column: str) -> list[str]:
    """The values of a column, in the order of their first row."""
    return list(dict.fromkeys(row[column] for row in rows))
