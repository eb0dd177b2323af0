"""The index of aliases: distinct titles, occupations, and who belongs to whom."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from shapes import check_fields

from models.search.index import AliasIndex

OWNED = st.lists(st.tuples(st.text("ab\x00é", max_size=3), st.sampled_from("xyz")), min_size=1)


def test_by_hand() -> None:
    """Titles cook, nurse, tutor; a holds nurse and tutor, b holds cook and tutor."""
    index = AliasIndex.of(["tutor", "tutor", "cook", "nurse"], ["b", "a", "b", "a"])
    check_fields(index.memberships)
    assert index.titles == ["cook", "nurse", "tutor"]
    assert index.occupations == ["a", "b"]
    assert index.memberships.titles.tolist() == [1, 2, 0, 2]
    assert index.memberships.sizes.tolist() == [2, 2]
    assert index.codes([["b", "a"], ["x"], ["x", "a"], []]) == [[1, 0], [], [0], []]


@pytest.mark.thorough
@given(OWNED)
def test_every_membership_once(owned: list[tuple[str, str]]) -> None:
    """Whatever the order and however often: the pairs are those of the rows."""
    index = AliasIndex.of(*map(list, zip(*owned, strict=True)))
    assert index.titles == sorted({title for title, _ in owned})
    assert index.occupations == sorted({occupation for _, occupation in owned})
    held = index.memberships
    pairs = [
        (index.titles[title], index.occupations[occupation])
        for occupation, (start, size) in enumerate(zip(held.starts, held.sizes, strict=True))
        for title in held.titles[start : start + size]
    ]
    assert len(pairs) == len(set(pairs)) == len(held.titles)
    assert set(pairs) == set(owned)


def test_titles_that_numpy_would_cut_or_inflate() -> None:
    """A string array drops NULs at the end and gives each title the room of the longest."""
    long = "x" * 10_000
    assert AliasIndex.of([long, "n\x00", "n"], ["b", "a", "a"]).titles == ["n", "n\x00", long]


def test_no_alias_is_an_error() -> None:
    with pytest.raises(ValueError, match="no alias: an index needs one title at least"):
        AliasIndex.of([], [])
