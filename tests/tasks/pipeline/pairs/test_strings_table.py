"""The strings table: one row a string and role, and whose occupations it has."""

from __future__ import annotations

from frames_of import queries_of, titles_of, variants_of, verdicts_of

from models.text.titles import clean_title
from tasks.io.frames import check
from tasks.io.schemas import STRINGS
from tasks.pipeline.pairs.strings_table import (
    append,
    base_strings,
    feedback_strings,
    ids_by_title,
    variant_strings,
)

TITLES = titles_of(
    [
        ("a", "Tutor", "train"),
        ("a", "Nurse", "valid"),
        ("b", "tutor ", "train"),
        ("b", "cook", "train"),
    ]
)
QUERY_ROWS = [
    ("1", "heldout_alias", "valid", "Nurse", ["a"], 2, "alias"),
    ("2", "annotations", "valid", "nurse", ["b"], 2, "input"),
    ("3", "annotations", "test", "never", ["b"], 2, "input"),
]
VALID = queries_of(QUERY_ROWS)


def test_base_strings() -> None:
    """One row a cleaned title and role, with every occupation that holds it; no test query."""
    strings = check(base_strings(TITLES, VALID), STRINGS, "strings")
    assert strings.rows() == [
        (0, "tutor", ["a", "b"], "alias"),
        (1, "cook", ["b"], "alias"),
        (2, "nurse", ["a", "b"], "valid"),
    ]
    assert base_strings(TITLES, VALID.clear()).rows() == strings.rows()[:2]


def test_variant_strings() -> None:
    """A variant of two titles has the occupations of both; spaces and case do not tell apart."""
    rows = [("tutor", "tutr"), ("cook", "coök"), ("cook", " TUTR"), ("tutor", "tutr")]
    variants = variants_of(rows)
    strings = base_strings(TITLES, VALID)
    whole = append(strings, variant_strings(variants, strings, "typo"))
    assert check(whole, STRINGS, "strings").rows()[3:] == [
        (3, "tutr", ["a", "b"], "typo"),
        (4, "coök", ["b"], "typo"),
    ]
    for title, typo in rows:
        of = {t: o for _, t, o, role in whole.rows() if role in {"alias", "typo"}}
        assert set(of[title]) <= set(of[clean_title(typo)])


def test_a_string_of_two_sources_stands_once_for_each() -> None:
    """The same string may be a typo of one title and a synonym of another: one row a role."""
    strings = base_strings(TITLES, VALID)
    for role, title in (("typo", "tutor"), ("synonym", "cook")):
        variants = variants_of([(title, "same")])
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
VERDICTS_OF_ALL_KINDS = verdicts_of(VERDICT_ROWS)


def test_feedback_strings() -> None:
    """Only what is right gives an occupation; a correction does where it is learned from."""
    seen = [("cook!", ["b"], "feedback"), ("grill cook", [], "feedback")]
    last = ("whatever", [], "feedback")
    assert feedback_strings(VERDICTS_OF_ALL_KINDS, corrections=False).rows() == [*seen, last]
    corrected = ("grill cook", ["b"], "feedback")
    rows = feedback_strings(VERDICTS_OF_ALL_KINDS, corrections=True)
    assert rows.rows() == [seen[0], corrected, last]
    whole = append(base_strings(TITLES, VALID), rows)
    assert check(whole, STRINGS, "strings")["string_id"].to_list() == list(range(6))
    none = feedback_strings(VERDICTS_OF_ALL_KINDS.clear(), corrections=True)
    assert append(whole, none).equals(whole)
