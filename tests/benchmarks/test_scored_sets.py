"""Publishers' pairs as lists: scores in [0, 1], and which pairs are the same."""

from __future__ import annotations

import polars as pl
import pytest

from benchmarks.scored_sets import StringPairs, kept, keys, string_pairs, without

PAIRS = StringPairs(["A dog!", "a cat", "a dog"], ["a cat", "a bird", "a dog"], [0.0, 0.5, 1.0])


def test_scores_are_brought_to_0_to_1() -> None:
    """SICK has 1 to 5: (1 - 1) / 4, (3.6 - 1) / 4, (5 - 1) / 4."""
    frame = pl.DataFrame(
        {"dataset": "sick", "left": list("abc"), "right": list("def"), "score": [1.0, 3.6, 5.0]}
    )
    found = string_pairs(frame)
    assert found[:2] == (list("abc"), list("def"))
    assert found.scores == pytest.approx([0.0, 0.65, 1.0])


def test_pairs_are_the_same_whichever_way_round_and_without_punctuation() -> None:
    others = StringPairs(["a CAT?"], ["a dog"])
    assert without(PAIRS, set(keys(others))) == kept(PAIRS, [False, True, True])
    assert without(PAIRS, set()) == PAIRS


def test_paraphrases_have_no_scores_to_keep() -> None:
    assert kept(PAIRS._replace(scores=None), [False, False, True]) == (["a dog"], ["a dog"], None)
