"""Everyday titles asked of whole models by the gate."""

from __future__ import annotations

from pathlib import Path

import pytest
from served_toy import toy_normalizer

from tasks.release.gate.everyday import everyday_queries, first_answers

ROWS = """raw_title,language,kind,occupation_ids,split
Baker (m/f),en,clear,baker elsewhere,work
Ward sister,en,clear,baker,work
!!!,en,clear,nurse,work
Keeper,en,vague,,work
Nurse,en,clear,nurse,final
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "everyday.csv").write_text(ROWS, encoding="utf-8")
    return tmp_path / "everyday.csv"


def test_clear_titles_are_answered_with_all_titles_and_an_abstention_is_a_miss(file: Path) -> None:
    """The title "Ward sister" is held out from the index that the gate's other tests search."""
    normalizer = toy_normalizer()
    queries = everyday_queries(file, normalizer.index.occupations)
    assert queries["raw_title"].to_list() == ["Baker (m/f)", "Ward sister", "!!!"]
    assert queries["cleaned"].to_list()[0] == "baker (m/f)"
    scores, run = first_answers("challenger", normalizer, queries)
    assert scores.rows() == [
        ("challenger", "everyday", "everyday-0", 1.0),
        ("challenger", "everyday", "everyday-1", 0.0),
        ("challenger", "everyday", "everyday-2", 0.0),
    ]
    assert run["occupation_id"].to_list() == ["baker", "nurse", None]


def test_answers_of_another_taxonomy_are_refused(file: Path) -> None:
    with pytest.raises(ValueError, match="it names no occupation of the taxonomy"):
        everyday_queries(file, ["surgeon"])
