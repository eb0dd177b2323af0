"""Titles of any length cost as much as one of 1,000 characters; usual ones stay as they are."""

from __future__ import annotations

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st
from served_toy import toy_normalizer

from models.normalizer.long_titles import LONGEST, cleaned, shortened
from models.text.titles import clean_title

EIGHTEEN = "\ufdfa"  # one character that NFKC makes 18


@given(st.text(max_size=40))
def test_a_usual_title_is_not_changed(title: str) -> None:
    assert shortened(title) == title
    assert cleaned(title) == clean_title(title)


@pytest.mark.parametrize("length", [LONGEST, LONGEST + 1, 10**7])
@pytest.mark.parametrize("letter", ["x", EIGHTEEN, "a ", " ", "e\u0301"])
def test_a_long_title_is_cut(length: int, letter: str) -> None:
    title = letter * length
    assert len(shortened(title)) <= LONGEST * len(letter)
    once = cleaned(title)
    assert len(once) <= LONGEST and cleaned(once) == once


def test_runs_of_white_space_count_as_one_character() -> None:
    title = "\n" * 3 * LONGEST + "night" + " " * 2 * LONGEST + "nurse"
    assert cleaned(title) == "night nurse"


def test_a_long_title_is_answered_in_bounded_memory_and_flagged() -> None:
    """Before, two million of these letters took 27 s and 3.1 GB."""
    normalizer = toy_normalizer()
    tail = " and more" * 10**5
    tracemalloc.start()
    answers = [*normalizer.predict([EIGHTEEN * 2 * 10**6, f"head baker{tail}", "baker"])]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**26
    assert [answer.reason for answer in answers[:1]] == ["unknown letters"]
    assert answers[1].seniority == ["head"] and answers[1].truncated
    assert answers[2].occupation_id == "baker" and not answers[2].truncated
