"""Everyday titles with answers by hand."""

from pathlib import Path

import pytest

from tasks.evaluation.everyday import read_everyday

HEAD = "raw_title,language,kind,occupation_ids,code,split\n"


def test_a_half(tmp_path: Path) -> None:
    file = tmp_path / "everyday.csv"
    rows = "nurse,en,clear,n m,,work\nbaker,en,clear,b,,final\n Driver ,en,vague,,83,work\n"
    file.write_text(HEAD + rows, encoding="utf-8")
    assert read_everyday(file, "work").rows() == [
        ("nurse", "en", "clear", ["n", "m"]),
        (" Driver ", "en", "vague", []),
    ]
    assert read_everyday(file, "final")["raw_title"].to_list() == ["baker"]


def test_faults_are_named(tmp_path: Path) -> None:
    file = tmp_path / "everyday.csv"
    file.write_text(HEAD + "nurse,en,clear,n,,final\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"everyday.csv: no row has 'work' in its column split"):
        read_everyday(file, "work")
    file.write_text("raw_title,split\nnurse,work\n", encoding="utf-8")
    with pytest.raises(ValueError, match="no column language, kind, occupation_ids; it has"):
        read_everyday(file, "work")
