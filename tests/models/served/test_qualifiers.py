"""Words that say no occupation: the longest phrase, capitals, numbers, neighbours."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.served.qualifiers import KINDS, Qualifiers

QUALIFIERS = Qualifiers(
    {
        "seniority": ["senior", "head", "band #", "II"],
        "contract": ["part time", "# hrs", "# hrs a week", "nights", "temp", "# month contract"],
        "location": ["remote", "Reading", "New York", "US"],
        "neither": ["head office", "temp desk"],
    }
)


@pytest.mark.parametrize(
    ("title", "seniority", "contract", "location"),
    [
        ("Senior nurse, nights", ["Senior"], ["nights"], []),
        ("SENIOR Nurse II - Part-Time", ["SENIOR", "II"], ["Part-Time"], []),
        ("nurse ii", [], [], []),
        ("head office clerk (Reading)", [], [], ["Reading"]),
        ("Head of sales, reading groups", ["Head"], [], []),
        ("P/T part/time cook 37.5hrs a week", [], ["part/time", "37.5hrs a week"], []),
        ("cook 16-20 hrs NEW YORK", [], ["16-20 hrs"], ["NEW YORK"]),
        ("nurse band5 £12 hrs", ["band5"], [], []),
        ("6 month contract, remote US", [], ["6 month contract"], ["remote US"]),
        ("remote, US - temp nights", [], ["temp nights"], ["remote", "US"]),
        ("join us: temp desk", [], [], []),
        ("", [], [], []),
        ("§§ 💼", [], [], []),
    ],
)
def test_what_titles_say(
    title: str, seniority: list[str], contract: list[str], location: list[str]
) -> None:
    assert QUALIFIERS(title) == {
        "seniority": seniority,
        "contract": contract,
        "location": location,
    }


@given(st.text(max_size=40))
def test_what_is_found_stands_in_the_title_in_its_order(title: str) -> None:
    for found in QUALIFIERS(title).values():
        place = 0
        for text in found:
            place = title.index(text, place) + len(text)


@given(st.text(max_size=40))
def test_without_phrases_nothing_is_found(title: str) -> None:
    assert Qualifiers({})(title) == {kind: [] for kind in KINDS}
