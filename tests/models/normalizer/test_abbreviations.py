"""Abbreviations are written out, and a table that is wrong is refused with its line."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from served_toy import toy_normalizer

from models.normalizer.abbreviations import Abbreviations, read_abbreviations
from tasks.release.model_package.run_files import ABBREVIATIONS


def test_words_alone_are_written_out() -> None:
    written_out = Abbreviations({"rgn": "registered general nurse", "mgr": "manager"})
    assert written_out("rgn/ward mgr. nights") == "registered general nurse/ward manager. nights"
    assert written_out("rgns mgrx") == "rgns mgrx"


def test_a_title_is_searched_written_out_unless_the_taxonomy_has_it() -> None:
    normalizer = toy_normalizer()
    known = replace(
        normalizer, abbreviations=Abbreviations({"bm": "bread maker", "keeper": "nurse"})
    )
    assert normalizer.predict(["B.M."])[0].occupation_id != "baker"
    assert known.predict(["B.M."])[0].occupation_id == "baker"
    assert known.predict(["keeper"])[0].matched_title == "Keeper"


def test_our_own_table_is_right() -> None:
    meanings = read_abbreviations(ABBREVIATIONS).meanings
    assert len(meanings) > 200 and meanings["rgn"] == "registered general nurse"
    assert not {word for words in meanings.values() for word in words.split()} & {"mgr", "asst"}


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("a.b.c d,what,en", "line 2.*one word"),
        ("rn,registered nurse,en\nRN,nurse,en", "line 3: 'rn' has a meaning already"),
        ("rn,registered nurse", "line 2: 3 fields; its columns are abbreviation"),
        ("rn,registered nurse,en,more", "line 2: 4 fields"),
    ],
)
def test_a_wrong_table_is_refused(rows: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "table.csv"
    file.write_text(f"abbreviation,meaning,language\n{rows}\n", encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        read_abbreviations(file)
