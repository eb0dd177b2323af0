"""Misspelt words in the spelling of the taxonomy."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.search.words.respelling import Respelling
from models.search.words.title_words import TitleWords

ENDINGS = {"teacher": 300, "secretary": 20, "tracer": 6, "barber": 4, "enginer": 2, "engineer": 250}
BEGINNINGS = {"techno": 1, "maths": 9}
COUNTS = ENDINGS | BEGINNINGS | {"dental": 7, "rental": 9, "casting": 40, "casing": 2, "it": 1}
TITLES = ["dental secretary", "casting director", "casing engineer", "it teacher", "barber"]
RESPELLING = Respelling(TitleWords({**COUNTS, "director": 9}, ENDINGS, BEGINNINGS), TITLES)


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
        ("enginer", "engineer"),  # known, and a hundred times rarer
        ("techno", "techno"),
        ("tch", "tch"),
        ("", ""),
    ],
)
def test_last_words(title: str, meant: str) -> None:
    assert RESPELLING(title) == meant


@pytest.mark.parametrize(
    ("title", "meant"),
    [
        ("detal secretary", "dental secretary"),
        ("detal secretarry", "dental secretary"),
        ("lental secretary", "lental secretary"),  # "rental" is more frequent, and makes no title
        ("barbr", "barber"),  # ends too few titles to be meant elsewhere
        ("ward barbr", "ward barbr"),
        ("costing manager", "costing manager"),
        ("casting engineer", "casting engineer"),  # known, and no misspelt "casing"
        ("xt teacher", "xt teacher"),  # too short
        ("detal secretary zz detal", "detal secretary zz detal"),  # three unknown words
    ],
)
def test_titles_of_the_taxonomy(title: str, meant: str) -> None:
    assert RESPELLING(title) == meant


@given(st.text(max_size=30))
def test_known_titles_and_those_without_words_stay(title: str) -> None:
    assert Respelling(TitleWords({}, {}, {}), [title])(title) == title
    assert RESPELLING(RESPELLING(title)) == RESPELLING(title)
