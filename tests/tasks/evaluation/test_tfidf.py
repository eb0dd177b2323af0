"""TF-IDF against the same weights worked out with Python dictionaries."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.evaluation.tfidf import TfidfMatcher

TITLES = ["java developer", "real estate developer", "baker", "bäckerin (m/w/d)", "baker"]


def ngrams(title: str) -> Counter[str]:
    """2 to 5 characters inside each word, which has one space on both sides; short ones once."""
    held: list[str] = []
    for word in title.split():
        padded = f" {word} "
        for n in range(2, 6):
            held += [padded[i : i + n] for i in range(max(len(padded) - n, 0) + 1)]
            if len(padded) <= n:
                break  # scikit-learn counts a word that is shorter than n only once
    return Counter(held)


def cosine(query: str, title: str, titles: list[str]) -> float:
    """(1 + log tf) · (1 + log((1 + N) / (1 + df))), to unit length."""
    held = [ngrams(other) for other in titles]

    def weights(string: str) -> dict[str, float]:
        return {
            gram: (1 + math.log(count)) * (1 + math.log((1 + len(titles)) / (1 + frequency)))
            for gram, count in ngrams(string).items()
            if (frequency := sum(gram in other for other in held))
        }

    a, b = weights(query), weights(title)
    norm = math.hypot(*a.values()) * math.hypot(*b.values())
    return sum(a[gram] * b.get(gram, 0.0) for gram in a) / norm if norm else 0.0


@pytest.mark.thorough
@given(st.lists(st.text("abä ", max_size=8), min_size=1, max_size=3))
@settings(max_examples=30, deadline=None)
def test_equals_the_formula(queries: list[str]) -> None:
    titles = [*TITLES, "ab ba", "aab"]
    expected = [[cosine(query, title, titles) for title in titles] for query in queries]
    similarities = TfidfMatcher(titles, 2, 5).similarities(queries)
    assert similarities.dtype == np.float32
    np.testing.assert_allclose(similarities, expected, atol=1e-6)


def test_titles_are_compared_as_they_stand() -> None:
    """They are cleaned where they come in, not here."""
    assert not TfidfMatcher(["baker"], 2, 5).similarities(["BAKER"]).any()


def test_nothing_in_common_is_zero() -> None:
    similarities = TfidfMatcher(TITLES, 2, 5).similarities(["", "ひ", "\U0001f600"])
    np.testing.assert_array_equal(similarities, np.zeros((3, len(TITLES))))


def test_no_query() -> None:
    assert TfidfMatcher(TITLES, 2, 5).similarities([]).shape == (0, len(TITLES))


@pytest.mark.parametrize("titles", [[], ["", ""]])
def test_an_empty_index_is_an_error(titles: list[str]) -> None:
    with pytest.raises(ValueError, match=f"{len(titles)} titles without a character"):
        TfidfMatcher(titles, 2, 5)


@pytest.mark.parametrize(("smallest", "largest"), [(3, 2), (0, 2)])
def test_sizes_that_cannot_be(smallest: int, largest: int) -> None:
    with pytest.raises(ValueError, match=f"n-grams of {smallest} to {largest} characters"):
        TfidfMatcher(TITLES, smallest, largest)
