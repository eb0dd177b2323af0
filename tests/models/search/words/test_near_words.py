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


@given(st.sets(WORDS), WORDS)
def test_they_are_those_that_edits_make(known: set[str], word: str) -> None:
    assert NearWords.of(sorted(known))(word) == sorted(edits(word) & known)
