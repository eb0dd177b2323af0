"""Queries ranked by a fake system whose similarities are known, and tables of their measures."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from frames_of import queries_of
from hypothesis import given, settings
from hypothesis import strategies as st

from models.serving import search
from models.serving.index import AliasIndex
from models.serving.scores import ScoreRule
from models.serving.search import Search
from tasks.evaluation.metric_tables import nested, read_table, table, write_table
from tasks.evaluation.ranking import rank_queries
from tasks.io.frames import SchemaError, check
from tasks.io.schemas import RUN, SCORES, TABLE

# titles cook, nurse, tutor; occupations a: cook, b: nurse and tutor, c: tutor
INDEX = AliasIndex.of(["cook", "nurse", "tutor", "tutor"], ["a", "b", "b", "c"])
NEAR = {"q1": [0.9, 0.1, 0.5], "q2": [0.2, 0.3, 0.7], "q3": [0.4, 0.4, 0.4]}


def similarities(titles: Sequence[str]) -> np.ndarray:
    return np.array([NEAR[title] for title in titles], np.float32)


BEST = Search(INDEX, similarities, ScoreRule("best", 0.1))


def queries_for(rows: list[tuple[str, list[str]]]) -> pl.DataFrame:
    rows = enumerate(rows)
    return queries_of((f"id{i}", "t", "test", raw, gold, 1, "input") for i, (raw, gold) in rows)


ROWS = [("q1", ["a"]), (" Q2\n", ["b"]), ("q3", ["c", "elsewhere"]), ("Q1", ["elsewhere"])]
"""As they are written; the system is asked with cleaned titles."""


def test_values_by_hand() -> None:
    """q1: a 0.9 first. q2: b and c tie at 0.7 by "tutor": success@1 ½, rank 1 or 2, so ¾.

    q3: all three tie: ⅓, and (1 + ½ + ⅓) / 3 = 11/18. Gold outside the index: a miss everywhere.
    """
    scores, _ = rank_queries("fake", BEST, queries_for(ROWS), 2)
    check(scores, SCORES, "scores")
    assert scores["query_id"].to_list() == ["id0", "id1", "id2", "id3"]
    assert set(scores["system"]) == {"fake"}
    assert scores["success_at_1"].to_list() == pytest.approx([1, 1 / 2, 1 / 3, 0])
    assert scores["success_at_5"].to_list() == pytest.approx([1, 1, 1, 0])
    assert scores["reciprocal_rank"].to_list() == pytest.approx([1, 3 / 4, 11 / 18, 0])


def test_run_by_hand() -> None:
    """Two ranks; equal scores stand in the order of ids; the title is the best alias."""
    _, run = rank_queries("fake", BEST, queries_for(ROWS), 2)
    check(run, RUN, "run")
    found = ["a cook", "b tutor", "b tutor", "c tutor", "a cook", "b nurse", "a cook", "b tutor"]
    rows = run.select("query_id", "rank", pl.format("{} {}", "occupation_id", "title")).rows()
    assert rows == [(f"id{row // 2}", 1 + row % 2, text) for row, text in enumerate(found)]
    assert run["score"].to_list() == pytest.approx([0.9, 0.5, 0.7, 0.7, 0.4, 0.4, 0.9, 0.5])


def test_a_depth_past_the_occupations_and_soft_scores() -> None:
    """Soft: b of two aliases 0.3 and 0.7, t = 0.1: 0.1·ln(e³ + e⁷) - 0.05·ln 2 = 0.667158."""
    soft = Search(INDEX, similarities, ScoreRule("soft", 0.1))
    _, run = rank_queries("fake", soft, queries_for([("q2", ["b"])]), 99)
    assert run["occupation_id"].to_list() == ["c", "b", "a"]
    by_hand = 0.1 * np.log(np.exp(3) + np.exp(7)) - 0.05 * np.log(2)
    assert run["score"].to_list() == pytest.approx([0.7, by_hand, 0.2], abs=1e-6)


def test_no_queries() -> None:
    scores, run = rank_queries("fake", BEST, queries_for([]), 2)
    assert check(scores, SCORES, "scores").is_empty()
    assert check(run, RUN, "run").is_empty()


@pytest.mark.thorough
@given(st.lists(st.sampled_from(ROWS), min_size=1, max_size=9), st.integers(1, 4))
@settings(max_examples=25)
def test_blocks_do_not_show(rows: list[tuple[str, list[str]]], block: int) -> None:
    whole = rank_queries("fake", BEST, queries_for(rows), 2)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search, "TITLES_AT_ONCE", block)
        pieces = rank_queries("fake", BEST, queries_for(rows), 2)
    assert all(one.equals(other) for one, other in zip(whole, pieces, strict=True))


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


def sized_queries(rows: list[tuple[str, int, str, str]], test: str = "t") -> pl.DataFrame:
    return queries_of((i, test, "test", title, ["a"], n, source) for i, n, title, source in rows)


def scores_of(queries: pl.DataFrame, system: str = "s") -> pl.DataFrame:
    rows = [
        (system, test, i, HITS[i], 1.0, 1.0, HITS[i] / 2)
        for test, i in queries.select("test", "query_id").iter_rows()
    ]
    return pl.DataFrame(rows, schema=dict(SCORES), orient="row")


QUERY_FRAME = sized_queries(QUERY_ROWS)


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
    queries = pl.concat([QUERY_FRAME, sized_queries(QUERY_ROWS[:2], "other")])
    figures = table(scores_of(queries), queries, 100, 1)
    assert nested(figures) == {
        "s": {
            "t": {"success_at_1": 0.5, "success_at_5": 1.0, "success_at_10": 1.0, "mrr": 0.25},
            "other": {"success_at_1": 0.75, "success_at_5": 1, "success_at_10": 1, "mrr": 0.375},
        }
    }


def test_no_table() -> None:
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
