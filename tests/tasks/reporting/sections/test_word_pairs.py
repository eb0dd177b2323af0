"""Pairs of titles that one word or their order tells apart, against a comparison of all titles."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.reporting.sections.word_pairs import WordPair, word_pairs


def index_of(titles: dict[str, list[str]]) -> pl.DataFrame:
    rows = sorted(titles.items())
    return pl.DataFrame(
        rows,
        schema={"title": pl.String, "occupation_ids": pl.List(pl.String)},
        orient="row",
    )


def test_by_hand() -> None:
    """Tell a co-pilot from a pilot; a head cook is a cook here, so that pair is none."""
    index = index_of(
        {
            "pilot": ["a"],
            "co-pilot": ["b"],
            "cook": ["c"],
            "head cook": ["c", "d"],
            "cook assistant": ["e"],
            "assistant cook": ["f"],
            "very young cook": ["g"],
        }
    )
    assert set(word_pairs(index)) == {
        WordPair("co-pilot", "pilot", "co"),
        WordPair("cook assistant", "cook", "assistant"),
        WordPair("assistant cook", "cook", "assistant"),
        WordPair("assistant cook", "cook assistant", ""),
    }


TITLES = st.lists(st.sampled_from("xyz"), min_size=1, max_size=3).map(" ".join)


@pytest.mark.thorough
@given(st.dictionaries(TITLES, st.lists(st.sampled_from("abc"), min_size=1), max_size=8))
def test_equals_a_comparison_of_all_titles(titles: dict[str, list[str]]) -> None:
    expected = []
    for title, held in titles.items():
        for shorter, theirs in titles.items():
            words, fewer = title.split(), shorter.split()
            if set(held) & set(theirs):
                continue
            if words[1:] == fewer:
                expected.append((title, shorter, words[0]))
            elif words[:-1] == fewer:
                expected.append((title, shorter, words[-1]))
            elif title < shorter and sorted(words) == sorted(fewer):
                expected.append((title, shorter, ""))
    assert sorted(word_pairs(index_of(titles))) == sorted(expected)


def test_a_title_of_one_word_is_no_word_more_than_nothing() -> None:
    assert word_pairs(index_of({"cook": ["a"], "": ["b"], "pilot": ["c"]})) == []
