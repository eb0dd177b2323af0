"""Words that say no occupation: the longest phrase, capitals, numbers, neighbours."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.serving.qualifiers import KINDS, Qualifiers
from tasks.release.model_package.phrases import check_phrases

QUALIFIERS = Qualifiers(
    {
        "seniority": ["senior", "head", "band #", "II"],
        "contract": ["part time", "# hrs", "# hrs a week", "nights", "temp", "# month contract"],
        "location": ["remote", "Reading", "New York", "US"],
        "neither": ["head office", "temp desk"],
        "no_job": ["retired", "n/a", "we are hiring", "student"],
    }
)


def kinds_of(title: str, qualifiers: Qualifiers = QUALIFIERS) -> list[list[str]]:
    """What a title says of each kind, asked between two others."""
    found = qualifiers(["senior", title, "£\n5 nights"])
    return [
        found.texts[(found.rows == 1) & (found.kinds == kind)].tolist()
        for kind in range(len(KINDS))
    ]


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
def test_what_titles_say(title, seniority, contract, location) -> None:
    assert kinds_of(title) == [seniority, contract, location]


@given(st.text(max_size=40))
def test_what_is_found_stands_in_the_title_in_its_order(title: str) -> None:
    for found in kinds_of(title):
        end = 0
        for text in found:
            end = title.index(text, end) + len(text)


@given(st.text(max_size=40))
def test_without_phrases_nothing_is_found(title: str) -> None:
    assert kinds_of(title, Qualifiers({})) == [[], [], []]
    assert not Qualifiers({})([title]).name_no_job.any()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("phrase\nsenior\n", "kind,phrase"),
        ("kind,phrase\nrank,senior\n", "line 2: kind 'rank'"),
        ("kind,phrase\nseniority,senior\ncontract,!!\n", "line 3: no word"),
        ("kind,phrase\nseniority,senior\ncontract,Senior\n", "line 3: 'Senior' stands in line 2"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "qualifiers.csv"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=said):
        check_phrases(file)


@pytest.mark.parametrize(
    ("title", "no_job"),
    [
        ("Retired", True),
        ("N/A", True),
        ("we are hiring! (New York, part-time)", True),
        ("part time", True),
        ("retired nurse", False),
        ("Student nurse", False),
        ("senior", False),  # vague, and may be a job
        ("head office", False),
        ("!", False),
        ("", False),
    ],
)
def test_titles_without_a_word_of_an_occupation(title: str, no_job: bool) -> None:
    assert QUALIFIERS([title, "nurse"]).name_no_job.tolist() == [no_job, False]
