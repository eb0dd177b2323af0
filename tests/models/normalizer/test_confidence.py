"""Abbreviations, and misspelt titles, are not rejected."""

from __future__ import annotations

from dataclasses import replace

import pytest
from served_toy import toy_normalizer

from models.normalizer.confidence import is_abbreviation
from models.search.calibration import Calibration
from models.search.words.title_words import TitleWords

STRICT = Calibration(0.06, [0.0] * 3, [1.0] * 3, -9.0)
"""Nothing but titles of the taxonomy is in the domain."""


@pytest.mark.parametrize(
    ("title", "short"),
    [("rn", True), ("hrbp", True), ("nurse", False), ("ceo", False), ("x", False), ("c++", False)],
)
def test_abbreviations(title: str, short: bool) -> None:
    assert is_abbreviation(title) == short


def test_what_is_misspelt_or_abbreviated_gets_an_answer() -> None:
    """A misspelt title of the taxonomy is that title; an unknown abbreviation is unsure."""
    endings = {"nurse": 9, "baker": 5}
    normalizer = replace(toy_normalizer(STRICT), words=TitleWords(endings, endings, {}))
    answers = normalizer.predict(["Nures", "bakr", "HRBP", "R.N.", "horse"])
    nurse, baker, hrbp, rn, horse = answers
    assert (nurse.occupation_id, nurse.answered_by) == ("nurse", "taxonomy")
    assert (baker.occupation_id, baker.answered_by) == ("baker", "taxonomy")
    assert hrbp.reason is None and rn.reason is None
    assert horse.abstained
