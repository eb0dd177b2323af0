"""Titles held whole and strictly: an oracle that loops over titles, and cases worked by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.text.titles import normalize_title
from tasks.pipeline.extra_words.contained_titles import contained_titles


def obvious(text: str, titles: set[str]) -> set[str]:
    """Every title at every place, judged by its two neighbours."""
    contained = set()
    for title in titles:
        for start in range(len(text) - len(title) + 1):
            before, after = text[:start], text[start + len(title) :]
            starts_a_word = before == "" or before[-1] in " /"
            rest = after.lstrip(".")
            ends_a_word = rest == "" or rest[0] in " /"
            if text[start:].startswith(title) and starts_a_word and ends_a_word and text != title:
                contained.add(title)
    return contained


TEXT = st.text("ab+./& ", max_size=14).map(normalize_title)


@pytest.mark.thorough
@given(st.lists(TEXT, max_size=3), st.sets(TEXT.filter(bool), max_size=12))
def test_the_oracle_finds_the_same(inputs: list[str], titles: set[str]) -> None:
    contained = contained_titles(inputs, titles)
    assert [set(some) for some in contained] == [obvious(text, titles) for text in inputs]
    for some in contained:
        assert len(set(some)) == len(some)
        assert [len(title) for title in some] == sorted(map(len, some), reverse=True)


@pytest.mark.parametrize(
    ("text", "title", "held"),
    [
        ("internal auditor", "intern", False),
        ("intern auditor", "intern", True),
        ("head intern", "intern", True),
        ("intern", "intern", False),  # complete, but not strict
        ("c++ developer", "c", False),
        ("c# developer", "c", False),
        ("c/c++ developer", "c", True),
        ("c developer", "c", True),
        (".net developer", "net", False),
        ("r&d engineer", "r", False),
        ("developer/programmer", "developer", True),
        ("developer/programmer", "programmer", True),
        ("senior developer/programmer", "developer/programmer", True),
        ("sales & marketing manager", "marketing manager", True),
        ("nurse. london", "nurse", True),
        ("nurse.", "nurse", True),
        ("nurse.london", "nurse", False),
        ("7.5t driver", "5t driver", False),
        ("software engineering", "software engineer", False),
        ("software project engineer", "software engineer", False),
        # table 2 of the paper
        ("supervisor dedicated services share plans", "supervisor", True),
        ("part II architectural assistant or architect at", "architectural assistant", True),
        ("part II architectural assistant or architect at", "architect", True),
        ("geography teacher 0.4 contract now", "geography teacher", True),
        ("public relations consultant business business b2c", "public relations consultant", True),
        ("teaching assistant degree holders only contract", "teaching assistant", True),
        # section 4.2: the plural is no whole word
        ("looking for C++ developers (urgent!)", "c++ developer", False),
    ],
)
def test_cases_worked_by_hand(text: str, title: str, held: bool) -> None:
    assert contained_titles([normalize_title(text)], {title}) == [[title] if held else []]


def test_the_longest_comes_first_and_of_equally_long_ones_the_leftmost() -> None:
    """12 characters, twice 5 (one of them twice in the input), then 4."""
    titles = {"nurse", "cook", "baker", "senior nurse", "junior nurse"}
    contained = contained_titles(["baker cook and senior nurse or nurse"], titles)
    assert contained == [["senior nurse", "baker", "nurse", "cook"]]


def test_nothing_in_nothing_out() -> None:
    assert contained_titles([], {"nurse"}) == []
    assert contained_titles(["", "old nurse"], set()) == [[], []]


def test_a_long_input_is_looked_through_once() -> None:
    """20,000 words among titles of two: a loop over all runs would make 200 million look-ups."""
    titles = CountedSet({"old nurse", "cook"})
    words = " ".join(["word"] * 20_000)
    assert contained_titles([f"{words} old nurse {words}"], titles) == [["old nurse"]]
    assert titles.look_ups < 100_000


class CountedSet(set[str]):
    """Counts how often it is asked."""

    look_ups = 0

    def __contains__(self, title: object) -> bool:
        self.look_ups += 1
        return super().__contains__(title)
