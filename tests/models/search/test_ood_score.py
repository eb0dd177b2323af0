"""How little a string reads like a job title."""

from __future__ import annotations

from math import log, log1p

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.search.ood_score import KNOWN, OodScore

TITLES = [
    "nurse",
    "head nurse (ward)",
    "school nurse",
    "horse trainer",
    "c++ trainer",
    "trainer, horses",
    "sales/marketing",
]
OOD = OodScore.of(TITLES)
NURSE, TRAINER = log1p(3), log1p(3)  # each ends the first part of three titles


@pytest.mark.parametrize(
    ("title", "bonus"),
    [
        ("night nurse", 0.05 * NURSE + 0.1 * NURSE / 2),
        ("nurse - night shift", 0.05 * NURSE + 0.1 * NURSE / 3),
        ("night shift nurse at home", 0.1 * NURSE / 5),  # ends no part
        ("horse", -0.2),
        ("sales", 0.05 * log1p(1) + 0.1 * log1p(1) - 0.2),
        ("nurse/trainer", 0.05 * NURSE + 0.1 * (NURSE + TRAINER) / 2),
        ("horses", -0.2),  # of a title's second part
        ("marketing", -0.2),
        ("", 0.0),
        ("!?", 0.0),
        ("school nurse", KNOWN),
    ],
)
def test_by_hand(title: str, bonus: float) -> None:
    assert OOD([title], np.array([0.5], np.float32)) == pytest.approx([-(0.5 + bonus)])


def test_the_ending_saturates() -> None:
    """Above twenty titles more of them add nothing but to the mean."""
    many = OodScore.of(f"{letter * 3} nurse" for letter in "abcdefghijklmnopqrstuvwxyz")
    (value,) = many(["ward nurse"], np.zeros(1))
    assert -value == pytest.approx(0.05 * log(20) + 0.1 * log1p(26) / 2)


def test_no_titles_know_no_word() -> None:
    assert OodScore.of([])(["head nurse"], np.ones(1)).tolist() == [-1.0]


@pytest.mark.thorough
@given(st.lists(st.text(max_size=30), max_size=5))
def test_any_text_has_a_finite_one(titles: list[str]) -> None:
    values = OOD(titles, np.zeros(len(titles)))
    assert values.shape == (len(titles),) and np.isfinite(values).all()
