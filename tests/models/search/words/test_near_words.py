"""Words an edit away, beside a loop over all edits."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from models.search.words.near_words import NearWords

LETTERS = "abž"
WORDS = st.text(LETTERS, min_size=1, max_size=5)


def edits(word: str) -> set[str]:
    parts = [(word[:place], word[place:]) for place in range(len(word) + 1)]
    return {
        *(start + end[1:] for start, end in parts),
        *(start + end[1:2] + end[:1] + end[2:] for start, end in parts),
        *(start + letter + end for start, end in parts for letter in LETTERS),
        *(start + letter + end[1:] for start, end in parts for letter in LETTERS),
    } - {word}


@given(st.dictionaries(WORDS, st.integers(1, 4)), st.lists(WORDS, min_size=1), st.integers(0, 4))
def test_the_best_is_the_most_frequent_that_edits_make(
    known: dict[str, int], words: list[str], least: int
) -> None:
    """The first letter has to agree where a least count is asked for."""
    best = NearWords.of(known).best(dict.fromkeys(words, least))
    for word in words:
        alike = (one for one in sorted(edits(word) & known.keys()) if known[one] >= least)
        likely = [one for one in alike if not least or one[0] == word[0]]
        assert best.get(word) == max(likely, key=known.__getitem__, default=None)
