"""The strings table: one row a string and role; and who shares an occupation, by brute force."""

import numpy as np
import polars as pl
import pytest
from frames_of import queries_of, resolutions_of, titles_of, variants_of
from hypothesis import given
from hypothesis import strategies as st

from models.text.titles import clean_title
from tasks.io.frames import check
from tasks.io.schemas import STRINGS
from tasks.pipeline.pairs.strings import (
    StringOccupations,
    base_strings,
    ids_of,
    with_feedback_strings,
    with_variants,
)

ROWS = [("a", "Tutor", "train"), ("a", "Nurse", "valid"), ("b", "tutor ", "train")]
TITLES = titles_of([*ROWS, ("b", "cook", "train")])
VALID = queries_of(
    [
        ("1", "heldout_alias", "valid", "Nurse", ["a"], 2, "alias"),
        ("2", "annotations", "valid", "nurse", ["b"], 2, "input"),
        ("3", "annotations", "test", "never", ["b"], 2, "input"),
    ]
)
STRINGS_OF_BASE = base_strings(TITLES, VALID)


def test_base_strings() -> None:
    """One row a cleaned title and role, with every occupation that holds it; no test query."""
    assert check(STRINGS_OF_BASE, STRINGS, "strings").rows() == [
        (0, "tutor", ["a", "b"], "alias"),
        (1, "cook", ["b"], "alias"),
        (2, "nurse", ["a", "b"], "valid"),
    ]
    assert base_strings(TITLES, VALID.clear()).rows() == STRINGS_OF_BASE.rows()[:2]


def test_with_variants() -> None:
    """A variant of two titles has the occupations of both; spaces and case do not tell apart."""
    rows = [("tutor", "tutr"), ("cook", "coök"), ("cook", " TUTR"), ("tutor", "tutr")]
    strings = with_variants(STRINGS_OF_BASE, variants_of(rows), "typo")
    typos = [(3, "tutr", ["a", "b"], "typo"), (4, "coök", ["b"], "typo")]
    assert check(strings, STRINGS, "strings").rows()[3:] == typos
    owned = {title: own for _, title, own, role in strings.rows() if role != "valid"}
    assert all(set(owned[title]) <= set(owned[clean_title(typo)]) for title, typo in rows)


def test_a_string_of_two_sources_stands_once_for_each() -> None:
    """The same string may be a typo of one title and a synonym of another: one row a role."""
    strings = STRINGS_OF_BASE
    for role, title in (("typo", "tutor"), ("synonym", "cook")):
        strings = with_variants(strings, variants_of([(title, "same")]), role)
    assert strings.rows()[3:] == [(3, "same", ["a", "b"], "typo"), (4, "same", ["b"], "synonym")]
    for role, titles, ids in (("synonym", ["same"], [4]), ("alias", ["cook", "tutor"], [1, 0])):
        assert ids_of(pl.Series(titles), strings, role).tolist() == ids


@pytest.mark.parametrize(("corrections", "grill_cook"), [(False, []), (True, ["b"])])
def test_with_feedback_strings(corrections: bool, grill_cook: list[str]) -> None:
    """Only `correct` gives an occupation; a correction does where it is learned from."""
    resolutions = resolutions_of(
        [
            ("Cook!", "cook", "b", True, None),
            ("cook!", "tutor", "a", False, "b"),
            ("grill cook", "tutor", "a", False, "b"),
            ("whatever", "tutor", "a", False, None),
        ]
    )
    strings = with_feedback_strings(STRINGS_OF_BASE, resolutions, corrections=corrections)
    assert check(strings, STRINGS, "strings").rows()[3:] == [
        (3, "cook!", ["b"], "feedback"),
        (4, "grill cook", grill_cook, "feedback"),
        (5, "whatever", [], "feedback"),
    ]
    none = with_feedback_strings(strings, resolutions.clear(), corrections=corrections)
    assert none.equals(strings)


@pytest.mark.thorough
@given(
    st.lists(st.sets(st.sampled_from("abcd"), min_size=1), min_size=1, max_size=8),
    st.sets(st.integers(0, 99), min_size=8, max_size=8),
)
def test_occupations_equal_the_lists(owned: list[set[str]], numbers: set[int]) -> None:
    """Ids are any that rise."""
    ids = np.array(sorted(numbers)[: len(owned)])
    own = pl.Series([sorted(own) for own in owned], dtype=pl.List(pl.String))
    members = StringOccupations(ids, own)
    occupations = sorted(set().union(*owned))
    groups = [[i for i, own in zip(ids, owned, strict=True) if o in own] for o in occupations]
    assert members.string.tolist() == [i for group in groups for i in group]
    assert members.size.tolist() == [len(group) for group in groups for _ in group]
    starts = np.cumsum([0, *map(len, groups)])
    assert members.start.tolist() == [s for s, g in zip(starts, groups, strict=False) for _ in g]
    left, right = np.indices((len(owned), len(owned))).reshape(2, -1)
    expected = [bool(owned[i] & owned[j]) for i, j in zip(left, right, strict=True)]
    assert members.share_occupation(ids[left], ids[right]).tolist() == expected


def test_a_string_drawn_beside_comes_from_the_own_language_or_from_any() -> None:
    """Strings 0 and 1 are English, 2 and 3 German, all of one occupation."""
    languages = pl.Series(["en", "en", "de", "de"])
    members = StringOccupations(np.arange(4), pl.Series([["a"]] * 4), languages)
    asked, rng = np.repeat(np.arange(4), 500), np.random.default_rng(1)
    own = members.drawn_beside(asked, rng, 0.0)
    assert (own // 2 == asked // 2).all()
    assert set(own) == {0, 1, 2, 3}
    half = members.drawn_beside(asked, rng, 0.5)
    assert 0.7 < (half // 2 == asked // 2).mean() < 0.8  # of any language, half are of the own
