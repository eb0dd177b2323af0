"""Scored pairs: distinct strings once, pairs in their order, scores in [0, 1]."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from shapes import check_fields

from models.text.titles import clean_title
from models.training.scored_pairs import ScoredPairs

TEXTS = st.text(alphabet="aAbß .", max_size=4)
EXAMPLES = settings(derandomize=True, database=None, deadline=None, max_examples=60)


def test_golden() -> None:
    """List all left strings first: a cat, a dog, then a bird; the pairs are 0-1, 1-2, 0-0."""
    pairs = ScoredPairs.of(["a cat", "a dog", "a cat"], ["a dog", "a bird", "A  Cat"], [0.2, 0, 1])
    assert pairs.titles == ["a cat", "a dog", "a bird"]
    assert pairs.left.tolist() == [0, 1, 0]
    assert pairs.right.tolist() == [1, 2, 0]
    assert pairs.scores is not None
    assert torch.equal(pairs.scores, torch.tensor([0.2, 0.0, 1.0]))
    assert len(pairs) == 3
    check_fields(pairs)


@pytest.mark.thorough
@given(st.lists(st.tuples(TEXTS, TEXTS), max_size=8))
@EXAMPLES
def test_every_pair_is_found_again(texts: list[tuple[str, str]]) -> None:
    left, right = [pair[0] for pair in texts], [pair[1] for pair in texts]
    pairs = ScoredPairs.of(left, right)
    assert pairs.scores is None
    assert len(set(pairs.titles)) == len(pairs.titles)
    assert [pairs.titles[row] for row in pairs.left] == [clean_title(title) for title in left]
    assert [pairs.titles[row] for row in pairs.right] == [clean_title(title) for title in right]


@pytest.mark.parametrize("score", [-0.1, 1.001, float("nan")])
def test_a_score_outside_is_refused(score: float) -> None:
    with pytest.raises(ValueError, match=r"the score of pair 1 is .*bring scores to \[0, 1\]"):
        ScoredPairs.of(["a", "b"], ["c", "d"], [0.5, score])


def test_lengths_that_differ_are_refused() -> None:
    with pytest.raises(ValueError, match="2 left and 1 right strings with no scores"):
        ScoredPairs.of(["a", "b"], ["c"])
    with pytest.raises(ValueError, match="1 left and 1 right strings with 2 scores"):
        ScoredPairs.of(["a"], ["c"], [0.1, 0.2])
