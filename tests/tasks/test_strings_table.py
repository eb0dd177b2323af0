"""The strings table, and who belongs to what, by brute force."""

from __future__ import annotations

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from models.titles import clean_title
from tasks.frames import check
from tasks.schemas import QUERIES, SPLIT_ALIASES, STRINGS, VARIANTS
from tasks.strings_table import Memberships, base_strings, number, typo_strings

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


def test_typo_strings() -> None:
    """A variant of two titles has the occupations of both; spaces and case do not tell apart."""
    rows = [("tutor", "tutr"), ("cook", "coök"), ("cook", " TUTR"), ("tutor", "tutr")]
    variants = pl.DataFrame(rows, schema=dict(VARIANTS), orient="row")
    strings = base_strings(ALIASES, VALID)
    whole = number(pl.concat([strings.drop("string_id"), typo_strings(variants, strings)]))
    assert check(whole, STRINGS, "strings").rows()[3:] == [
        (3, "tutr", ["a", "b"], "typo"),
        (4, "coök", ["b"], "typo"),
    ]
    for title, typo in rows:
        of = {clean_title(t): o for _, t, o, role in whole.rows() if role in {"alias", "typo"}}
        assert set(of[title]) <= set(of[clean_title(typo)])


@given(st.lists(st.sets(st.sampled_from("abcd"), min_size=1), min_size=1, max_size=8))
def test_memberships_equal_the_lists(owned: list[set[str]]) -> None:
    members = Memberships(pl.Series([sorted(own) for own in owned], dtype=pl.List(pl.String)))
    occupations = sorted(set().union(*owned))
    groups = [[i for i, own in enumerate(owned) if o in own] for o in occupations]
    assert members.string.tolist() == [i for group in groups for i in group]
    assert members.size.tolist() == [len(group) for group in groups for _ in group]
    assert members.place.tolist() == [place for group in groups for place in range(len(group))]
    starts = np.cumsum([0, *map(len, groups)])
    assert members.start.tolist() == [s for s, g in zip(starts, groups, strict=False) for _ in g]
    left, right = np.indices((len(owned), len(owned))).reshape(2, -1)
    expected = [bool(owned[i] & owned[j]) for i, j in zip(left, right, strict=True)]
    assert members.share_occupation(left, right).tolist() == expected
