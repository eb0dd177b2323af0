"""Queries ranked by a fake system whose similarities are known."""

from __future__ import annotations

from collections.abc import Sequence

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
from tasks.evaluation.ranking import rank_queries
from tasks.io.frames import check
from tasks.io.schemas import RUN, SCORES

# titles cook, nurse, tutor; occupations a: cook, b: nurse and tutor, c: tutor
INDEX = AliasIndex.of(["cook", "nurse", "tutor", "tutor"], ["a", "b", "b", "c"])
NEAR = {"q1": [0.9, 0.1, 0.5], "q2": [0.2, 0.3, 0.7], "q3": [0.4, 0.4, 0.4]}


def similarities(titles: Sequence[str]) -> np.ndarray:
    return np.array([NEAR[title] for title in titles], np.float32)


BEST = Search(INDEX, similarities, ScoreRule("best", 0.1))


def queries_for(rows: list[tuple[str, list[str]]]) -> pl.DataFrame:
    return queries_of(
        (f"id{i}", "t", "test", raw, gold, 1, "input") for i, (raw, gold) in enumerate(rows)
    )


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
    expected = [
        ("id0", 1, "a", "cook", 0.9),
        ("id0", 2, "b", "tutor", 0.5),
        ("id1", 1, "b", "tutor", 0.7),
        ("id1", 2, "c", "tutor", 0.7),
        ("id2", 1, "a", "cook", 0.4),
        ("id2", 2, "b", "nurse", 0.4),
        ("id3", 1, "a", "cook", 0.9),
        ("id3", 2, "b", "tutor", 0.5),
    ]
    rows = run.select("query_id", "rank", "occupation_id", "title", "score").rows()
    assert [row[:4] for row in rows] == [row[:4] for row in expected]
    assert [row[4] for row in rows] == pytest.approx([row[4] for row in expected])


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


def test_nothing_reachable() -> None:
    queries = queries_for([("q1", ["x"]), ("q2", ["y"])])
    scores, run = rank_queries("fake", BEST, queries, 2)
    assert scores.select(pl.sum("success_at_10", "reciprocal_rank")).row(0) == (0, 0)
    assert len(run) == 4


@pytest.mark.thorough
@given(st.lists(st.sampled_from(ROWS), min_size=1, max_size=9), st.integers(1, 4))
@settings(max_examples=25)
def test_blocks_do_not_show(rows: list[tuple[str, list[str]]], block: int) -> None:
    whole = rank_queries("fake", BEST, queries_for(rows), 2)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search, "TITLES_AT_ONCE", block)
        pieces = rank_queries("fake", BEST, queries_for(rows), 2)
    assert all(one.equals(other) for one, other in zip(whole, pieces, strict=True))
