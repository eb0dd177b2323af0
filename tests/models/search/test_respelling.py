"""Misspelt last words in the spelling of the taxonomy."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.search.respelling import Respelling

ENDINGS = {"teacher": 300, "secretary": 20, "tracer": 6, "barber": 4, "enginer": 2, "engineer": 250}
RESPELLING = Respelling(ENDINGS, {"techno": 1, "maths": 9})


@pytest.mark.parametrize(
    ("title", "meant"),
    [
        ("techer", "teacher"),
        ("maths techer", "maths teacher"),
        ("techer (maths) / secreary", "teacher (maths) / secretary"),
        ("teachre - secretaryy", "teacher - secretary"),  # swapped, and one too many
        ("treacher", "teacher"),
        ("techer assistant", "techer assistant"),  # no last word
        ("deacher", "deacher"),  # another first letter
        ("tacer", "tracer"),
        ("barbr", "barbr"),  # of four titles only
        ("enginer", "engineer"),  # known, and a hundred times rarer
        ("techno", "techno"),
        ("tch", "tch"),
        ("", ""),
    ],
)
def test_what_is_meant(title: str, meant: str) -> None:
    assert RESPELLING(title) == meant


@given(st.text(max_size=30))
def test_known_titles_and_those_without_words_stay(title: str) -> None:
    assert Respelling({}, {})(title) == title
    assert RESPELLING(RESPELLING(title)) == RESPELLING(title)
