"""No cell begins like a formula, whatever separates cells, and every text comes back."""

import re
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.io import formulas
from tasks.io.formulas import guard, guarded, unguard, unguarded

ROOT = Path(__file__).parents[3]
TRICKY = st.text(st.sampled_from("a1;|\t\r\n'=+-@＝＠,. \"e%"))


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("zeppelin pilot;=1+1", "zeppelin pilot;'=1+1"),
        ("＝1;＋1|－1\t＠1", "'＝1;'＋1|'－1\t'＠1"),
        ("'=x", "''=x"),
        ("-5", "-5"),
        ("+1,234.50", "+1,234.50"),
        ("-5+1", "'-5+1"),
        ("C++ - nurse; 'o", "C++ - nurse; 'o"),
    ],
)
def test_guard(text: str, written: str) -> None:
    assert guard(text) == written
    assert unguard(written) == text


@pytest.mark.thorough
@given(st.lists(st.none() | st.text() | TRICKY))
def test_every_text_comes_back_and_no_piece_begins_like_a_formula(texts: list[str | None]) -> None:
    column = pl.Series("cell", texts, pl.String)
    written = guarded(column)
    assert unguarded(written).equals(column, check_names=True)
    for text in written.drop_nulls():
        for piece in [] if formulas.NUMBER.fullmatch(text) else re.split("[;|\t\r\n]", text):
            assert not piece.startswith(tuple("=+-@＝＋－＠"))


def test_the_review_page_guards_by_the_same_rule() -> None:
    script = (ROOT / "tasks/apps/review/browser/saving.js").read_text(encoding="utf-8")
    assert f"/{formulas.UNGUARDED.pattern}/g" in script
    assert f"/^{formulas.NUMBER.pattern}$/" in script
