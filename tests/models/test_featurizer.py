"""The character featurizer against a loop over characters."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from shapes import check_fields

from models.featurizer import FIRST, PADDING, UNKNOWN, CharacterFeaturizer
from models.titles import clean_title

ANY = st.text(st.characters(exclude_categories=()), max_size=8)  # lone surrogates too


def by_loop(featurizer: CharacterFeaturizer, title: str) -> list[int]:
    places = {character: FIRST + i for i, character in enumerate(featurizer.alphabet)}
    return [places.get(c, UNKNOWN) for c in clean_title(title)[: featurizer.max_length]]


@given(st.lists(ANY, max_size=4), st.lists(ANY, min_size=1, max_size=4), st.integers(1, 6))
def test_equals_the_loop(known: list[str], titles: list[str], max_length: int) -> None:
    featurizer = CharacterFeaturizer.fit(known, max_length)
    found = featurizer(titles)
    check_fields(found)
    assert found.ids.max() < featurizer.vocabulary_size
    for row, length, cut, title in zip(*found, titles, strict=True):
        expected = by_loop(featurizer, title)
        assert row.tolist() == expected + [PADDING] * (found.ids.shape[1] - len(expected))
        assert length == max(1, len(expected))
        assert cut == (len(clean_title(title)) > max_length)


def test_golden() -> None:
    """Alphabet " abé": é is 5 (0 padding, 1 unknown, then code-point order); z is unknown."""
    featurizer = CharacterFeaturizer.fit(["a b", "É"], 4)
    assert featurizer.alphabet == " abé"
    assert featurizer.vocabulary_size == 6
    found = featurizer(["É az", "b", ""])
    assert found.ids.tolist() == [[5, 2, 3, 1], [4, 0, 0, 0], [0, 0, 0, 0]]
    assert found.lengths.tolist() == [4, 1, 1]


def test_ten_thousand_characters_are_cut_and_flagged() -> None:
    found = CharacterFeaturizer.fit(["ab"], 100)(["ab" * 5000, "a" * 100])
    assert found.ids.shape == (2, 100)
    assert found.lengths.tolist() == [100, 100]
    assert found.cut.tolist() == [True, False]


@pytest.mark.parametrize("title", ["👩‍🍳", "\ud800", "𐍈", "\x00"])
def test_outside_the_alphabet(title: str) -> None:
    found = CharacterFeaturizer.fit(["abc"], 100)([title])
    assert (found.ids == UNKNOWN).all()
    assert found.lengths == len(title)


def test_no_titles() -> None:
    found = CharacterFeaturizer.fit([], 10)([])
    assert found.ids.shape == (0, 1)
    assert found.ids.dtype == np.int64
    check_fields(found)
