"""The table of an evaluation: means by slice, every query once in each dimension."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from frames_of import queries_of as whole_queries_of

from tasks.evaluation.metric_tables import METRICS, nested, read_table, table, write_table
from tasks.io.frames import SchemaError
from tasks.io.schemas import SCORES, TABLE

# (query, occupation size, title, source): every band of both dimensions, at its two ends
QUERY_ROWS = [
    ("1", 1, "x" * 15, "alias"),
    ("2", 2, "x" * 16, "alias"),
    ("3", 5, " " * 9 + "x" * 30, "input"),
    ("4", 6, "x" * 31, "input"),
    ("5", 15, "x", "input"),
    ("6", 16, "x" * 99, "input"),
]
HITS = {"1": 1.0, "2": 0.5, "3": 0.0, "4": 1.0, "5": 0.0, "6": 0.5}


def queries_of(rows: list[tuple[str, int, str, str]], test: str = "t") -> pl.DataFrame:
    return whole_queries_of(
        (i, test, "test", title, ["a"], size, source) for i, size, title, source in rows
    )


def scores_of(queries: pl.DataFrame, system: str = "s") -> pl.DataFrame:
    rows = [
        (system, test, i, HITS[i], 1.0, 1.0, HITS[i] / 2)
        for test, i in queries.select("test", "query_id").iter_rows()
    ]
    return pl.DataFrame(rows, schema=dict(SCORES), orient="row")


QUERY_FRAME = queries_of(QUERY_ROWS)


def test_slices_by_hand() -> None:
    figures = table(scores_of(QUERY_FRAME), QUERY_FRAME, 100, 1)
    successes = {
        split: (value, n)
        for split, metric, value, n in figures.select("slice", "metric", "value", "n").iter_rows()
        if metric == "success_at_1"
    }
    assert successes == {
        "all": (0.5, 6),
        "size:1": (1.0, 1),
        "size:2-5": (0.25, 2),  # (0.5 + 0) / 2
        "size:6-15": (0.5, 2),  # (1 + 0) / 2
        "size:16+": (0.5, 1),
        "length:1-15": (0.5, 2),  # (1 + 0) / 2; white space does not count
        "length:16-30": (0.25, 2),
        "length:31+": (0.75, 2),
        "source:alias": (0.75, 2),
        "source:input": (0.375, 4),
    }


def test_slices_cover_every_query_once_in_each_dimension() -> None:
    queries = pl.concat([QUERY_FRAME, queries_of(QUERY_ROWS[:4], "other")])
    scores = pl.concat([scores_of(queries, system) for system in ("s", "r")])
    figures = table(scores, queries, 100, 1)
    dimension = pl.col("slice").str.split(":").list.first()
    sums = figures.group_by("system", "test", dimension, "metric").agg(
        pl.col("n").sum(), mean=(pl.col("value") * pl.col("n")).sum() / pl.col("n").sum()
    )
    assert len(sums) == 2 * 2 * 4 * len(METRICS)
    by_test = {"t": 6, "other": 4}
    for (test,), group in sums.group_by("test"):
        assert set(group["n"]) == {by_test[str(test)]}
    assert (
        sums.group_by("system", "test", "metric").agg(pl.col("mean").std())["mean"] < 1e-6
    ).all()


def test_intervals() -> None:
    """The mean lies inside; equal systems have equal intervals; a constant has no width."""
    scores = pl.concat([scores_of(QUERY_FRAME, system) for system in ("s", "r")])
    figures = table(scores, QUERY_FRAME, 100, 1)
    assert (figures["low"] <= figures["value"]).all()
    assert (figures["value"] <= figures["high"]).all()
    one, other = (figures.filter(pl.col("system") == s).drop("system") for s in ("s", "r"))
    assert one.equals(other)
    constant = figures.filter(pl.col("metric") == "success_at_5")
    assert set(constant["low"]) == set(constant["high"]) == {1.0}
    assert not table(scores, QUERY_FRAME, 100, 2).equals(figures)


def test_nested_by_hand() -> None:
    queries = pl.concat([QUERY_FRAME, queries_of(QUERY_ROWS[:2], "other")])
    figures = table(scores_of(queries), queries, 100, 1)
    assert nested(figures) == {
        "s": {
            "t": {"success_at_1": 0.5, "success_at_5": 1.0, "success_at_10": 1.0, "mrr": 0.25},
            "other": {"success_at_1": 0.75, "success_at_5": 1, "success_at_10": 1, "mrr": 0.375},
        }
    }


def test_no_queries() -> None:
    figures = table(scores_of(QUERY_FRAME.clear()), QUERY_FRAME.clear(), 100, 1)
    assert figures.is_empty()
    assert figures.columns == list(TABLE)
    assert nested(figures) == {}


def test_a_table_comes_back_as_it_was_written(tmp_path: Path) -> None:
    """Mixes stay text, nulls stay null; a missing column and a missing file are named."""
    schema = {**TABLE, "seed": pl.Int64}
    rows = [("1", "t", "all", "mrr", 0.5, 0.25, 1.0, 2, None)]
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    write_table(frame, tmp_path / "table.csv", schema)
    assert read_table(tmp_path / "table.csv", schema).equals(frame)
    with pytest.raises(SchemaError, match="seed: not expected"):
        read_table(tmp_path / "table.csv", TABLE)
    with pytest.raises(FileNotFoundError, match=r"nothing\.csv is missing"):
        read_table(tmp_path / "nothing.csv", TABLE)
