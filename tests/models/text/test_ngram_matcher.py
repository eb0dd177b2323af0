"""The n-gram matcher against the paper's formula, written out with Python sets."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.evaluation.ngram_matcher import NgramMatcher

# Few letters make shared and repeated trigrams likely; the others try every plane of Unicode,
# a lone surrogate, NUL, combining marks and characters that casefold into several.
LETTERS = st.sampled_from("aab cİßﬁ́\x00\ud800\U0001f600\U0010ffff")
STRINGS = st.lists(st.one_of(st.text(LETTERS, max_size=9), st.text(max_size=5)), max_size=5)


def paper_similarity(query: str, title: str) -> int:
    """Compute the equation of section 4.1, with M = len(query) and sets of trigrams."""

    def trigrams(string: str) -> set[str]:
        return {string[i : i + 3] for i in range(len(string) - 2)}

    wanted, held = trigrams(query), trigrams(title)
    return len(query) - (len(wanted ^ held) - len(wanted & held))


@pytest.mark.thorough
@given(STRINGS, STRINGS)
@settings(deadline=None)
def test_equals_the_formula(titles: list[str], queries: list[str]) -> None:
    """Any text is compared as it stands: it is cleaned where it comes in, not here."""
    expected = [[paper_similarity(query, title) for title in titles] for query in queries]
    similarities = NgramMatcher(titles).similarities(queries)
    assert similarities.dtype == np.float32
    assert similarities.shape == (len(queries), len(titles))
    assert similarities.tolist() == expected


@pytest.mark.parametrize(
    ("query", "title", "similarity"),
    [
        ("baker", "baker", 8),  # M = 5, 3 trigrams shared, none differs: 5 - (0 - 3)
        ("baker", "bakery", 7),  # bak ake ker shared, ery differs: 5 - (1 - 3)
        ("ab", "cd", 2),  # no trigrams at all: 2 - (0 - 0)
        ("abc", "`\U00010062c", 1),  # alike only if code points were cut to 16 bits: 3 - (2 - 0)
        ("Baker", "baker", 5),  # as they stand, Bak is not bak: 5 - (2 - 2)
    ],
)
def test_golden(query: str, title: str, similarity: int) -> None:
    assert NgramMatcher([title]).similarities([query]) == [[similarity]]


def test_a_query_of_ten_thousand_characters() -> None:
    """Ask 1,000 times "job titles" and a space: M = 10,999; the title's 8 trigrams are shared.

    Those over the border, "es ", "s j" and " jo", differ: 10,999 − (3 − 8) = 11,004.
    """
    query = " ".join(["job titles"] * 1000)
    assert NgramMatcher(["job titles"]).similarities([query]) == [[11_004]]
