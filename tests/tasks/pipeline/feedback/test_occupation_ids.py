"""Which occupation an id names: itself, and what a spreadsheet left of it."""

import pytest
from frames_of import aliases_of

from tasks.pipeline.feedback.occupation_ids import REWRITTEN_ID, OccupationIds, labels_of

IDS = ["0123", "045", "45", "0067", "067", "1234", "000", "http://x/08", "15-1252.00"]
OCCUPATIONS = OccupationIds.of(aliases_of((name, f"Title {name}", True, "train") for name in IDS))


@pytest.mark.parametrize("name", IDS)
def test_an_id_names_itself(name: str) -> None:
    assert OCCUPATIONS.look_up([name]) == ({name: name}, {}, [])


@pytest.mark.parametrize(("text", "name"), [("123", "0123"), ("0", "000"), ("123.0", "0123")])
def test_numbers_of_spreadsheets_are_ids_again(text: str, name: str) -> None:
    assert OCCUPATIONS.look_up([text]) == ({text: name}, {}, [text])


@pytest.mark.parametrize(
    ("text", "rewritten"),
    [
        ("67", True),  # of two ids
        ("67.0", True),
        ("1,234", True),
        ("1.234", True),
        ("1'234.00", True),
        ("1.2E+03", True),
        ("1,23e3", True),
        ("00123", True),
        ("1,235", False),
        ("77", False),
        ("1,23", False),
        ("x/08", False),
        ("²", False),
    ],
)
def test_an_unknown_id_says_what_may_have_happened(text: str, rewritten: bool) -> None:
    reason = REWRITTEN_ID if rewritten else "unknown occupation"
    assert OCCUPATIONS.look_up([text, ""]) == ({}, {text: reason}, [])


def test_a_taxonomy_without_numbers_knows_no_rewritten_ones() -> None:
    occupations = OccupationIds.of(aliases_of([("cook", "Cook", True, "train")]))
    assert occupations.look_up(["1.2E+03"]).faults == {"1.2E+03": "unknown occupation"}


def test_a_label_in_a_further_language_is_not_the_occupation_s() -> None:
    rows = [("cook", "Cook", True, "train"), ("nurse", "Nurse", True, "train")]
    further = aliases_of([("cook", "Koch", True, "train")], "de")
    aliases = aliases_of(rows).vstack(further)
    assert labels_of(aliases).rows() == [("cook", "cook"), ("nurse", "nurse")]
    assert OccupationIds.of(aliases).labels["cook"] == "cook"
