"""The strings table: one row a string and role, and whose occupations it has."""

from __future__ import annotations

import polars as pl

from models.titles import clean_title
from tasks.frames import check
from tasks.schemas import QUERIES, SPLIT_ALIASES, STRINGS, VARIANTS, VERDICTS
from tasks.strings_table import (
    append,
    base_strings,
    feedback_strings,
    ids_by_title,
    variant_strings,
)

ALIASES = pl.DataFrame(
    [
        ("a", "Tutor", True, "train"),
        ("a", "Nurse", False, "valid"),
        ("b", "tutor ", True, "train"),
        ("b", "cook", False, "train"),
    ],
    schema=dict(SPLIT_ALIASES),
    orient="row",
)
QUERY_ROWS = [
    ("1", "heldout_alias", "valid", "Nurse", ["a"], 2, "alias"),
    ("2", "annotations", "valid", "nurse", ["b"], 2, "input"),
    ("3", "annotations", "test", "never", ["b"], 2, "input"),
]
VALID = pl.DataFrame(QUERY_ROWS, schema=dict(QUERIES), orient="row")


def test_base_strings() -> None:
    """One row a cleaned title and role, with every occupation that holds it; no test query."""
    strings = check(base_strings(ALIASES, VALID), STRINGS, "strings")
    assert strings.rows() == [
        (0, "Tutor", ["a", "b"], "alias"),
        (1, "cook", ["b"], "alias"),
        (2, "Nurse", ["a", "b"], "valid"),
    ]
    assert base_strings(ALIASES, VALID.clear()).rows() == strings.rows()[:2]


def test_variant_strings() -> None:
    """A variant of two titles has the occupations of both; spaces and case do not tell apart."""
    rows = [("tutor", "tutr"), ("cook", "coök"), ("cook", " TUTR"), ("tutor", "tutr")]
    variants = pl.DataFrame(rows, schema=dict(VARIANTS), orient="row")
    strings = base_strings(ALIASES, VALID)
    whole = append(strings, variant_strings(variants, strings, "typo"))
    assert check(whole, STRINGS, "strings").rows()[3:] == [
        (3, "tutr", ["a", "b"], "typo"),
        (4, "coök", ["b"], "typo"),
    ]
    for title, typo in rows:
        of = {clean_title(t): o for _, t, o, role in whole.rows() if role in {"alias", "typo"}}
        assert set(of[title]) <= set(of[clean_title(typo)])


def test_a_string_of_two_sources_stands_once_for_each() -> None:
    """The same string may be a typo of one title and a synonym of another: one row a role."""
    strings = base_strings(ALIASES, VALID)
    for role, title in (("typo", "tutor"), ("synonym", "cook")):
        variants = pl.DataFrame([(title, "same")], schema=dict(VARIANTS), orient="row")
        strings = append(strings, variant_strings(variants, strings, role))
    assert strings.rows()[3:] == [(3, "same", ["a", "b"], "typo"), (4, "same", ["b"], "synonym")]
    assert [ids_by_title(strings, role) for role in ("typo", "synonym")] == [
        {"same": 3},
        {"same": 4},
    ]
    assert ids_by_title(strings, "alias") == {"tutor": 0, "cook": 1}
    assert ids_by_title(strings, "feedback") == {}


VERDICT_ROWS = [
    ("Cook!", "cook", "b", True, None),
    ("cook!", "tutor", "a", False, None),
    ("grill cook", "tutor", "a", False, "b"),
    ("whatever", "tutor", "a", False, None),
]
VERDICTS_OF_ALL_KINDS = pl.DataFrame(VERDICT_ROWS, schema=dict(VERDICTS), orient="row")


def test_feedback_strings() -> None:
    """Only what is right gives an occupation; a correction does where it is learned from."""
    seen = [("Cook!", ["b"], "feedback"), ("grill cook", [], "feedback")]
    last = ("whatever", [], "feedback")
    assert feedback_strings(VERDICTS_OF_ALL_KINDS, corrections=False).rows() == [*seen, last]
    corrected = ("grill cook", ["b"], "feedback")
    found = feedback_strings(VERDICTS_OF_ALL_KINDS, corrections=True)
    assert found.rows() == [seen[0], corrected, last]
    whole = append(base_strings(ALIASES, VALID), found)
    assert check(whole, STRINGS, "strings")["string_id"].to_list() == list(range(6))
    none = feedback_strings(VERDICTS_OF_ALL_KINDS.clear(), corrections=True)
    assert append(whole, none).equals(whole)
