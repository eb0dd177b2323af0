"""Columns of text beside lists of strings."""

from bisect import bisect_left
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.text.texts import Coded, Texts


@given(st.lists(st.text(max_size=6), max_size=20))
def test_it_is_the_list(strings: list[str]) -> None:
    texts = Texts.of(strings)
    assert [*texts] == strings and len(texts) == len(strings)
    assert texts[1:-1] == strings[1:-1] and Texts.of(texts) is texts
    positions = np.arange(len(strings))[::-1].reshape(-1, 1)
    assert texts.take(positions).tolist() == [[string] for string in reversed(strings)]
    text, ends = texts.joined()
    assert text == "".join(strings)
    assert [text[a:b] for a, b in pairwise(ends)] == strings


@given(st.lists(st.text(max_size=3), min_size=1, max_size=30), st.text(max_size=3))
def test_sorted_strings_are_searched_as_a_list_is(strings: list[str], text: str) -> None:
    strings.sort()
    assert bisect_left(Texts.of(strings), text) == bisect_left(strings, text)


def test_lone_surrogates_and_positions_beyond_the_end() -> None:
    texts = Texts.of(["a", "\ud800"])
    assert texts[1] == "\ud800"
    with pytest.raises(IndexError):
        texts[2]


def test_a_coded_column_is_the_sequence_that_it_was_made_of() -> None:
    values = ["b", "a", "b", "ß"]
    column = Coded.of(values)
    assert column.names == ["a", "b", "ß"] and column.codes.tolist() == [1, 0, 1, 2]
    assert [*column] == values and column[1:3] == ["a", "b"] and len(column) == 4
    assert Coded.of(column) is column
    assert [*Coded(Texts.of(["x", "y"]), np.array([1, 1, 0]))] == ["y", "y", "x"]
