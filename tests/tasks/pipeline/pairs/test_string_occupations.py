"""Who belongs to what, by brute force."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.pipeline.pairs.string_occupations import StringOccupations


@pytest.mark.thorough
@given(
    st.lists(st.sets(st.sampled_from("abcd"), min_size=1), min_size=1, max_size=8),
    st.sets(st.integers(0, 99), min_size=8, max_size=8),
)
def test_memberships_equal_the_lists(owned: list[set[str]], numbers: set[int]) -> None:
    """Ids are any that rise."""
    ids = np.array(sorted(numbers)[: len(owned)])
    members = StringOccupations(
        ids, pl.Series([sorted(own) for own in owned], dtype=pl.List(pl.String))
    )
    occupations = sorted(set().union(*owned))
    groups = [[i for i, own in zip(ids, owned, strict=True) if o in own] for o in occupations]
    assert members.string.tolist() == [i for group in groups for i in group]
    assert members.size.tolist() == [len(group) for group in groups for _ in group]
    starts = np.cumsum([0, *map(len, groups)])
    assert members.start.tolist() == [s for s, g in zip(starts, groups, strict=False) for _ in g]
    left, right = np.indices((len(owned), len(owned))).reshape(2, -1)
    expected = [bool(owned[i] & owned[j]) for i, j in zip(left, right, strict=True)]
    assert members.share_occupation(ids[left], ids[right]).tolist() == expected


def test_what_is_drawn_beside_comes_from_the_own_language_or_from_any() -> None:
    """Strings 0 and 1 are English, 2 and 3 German, all of one occupation."""
    members = StringOccupations(
        np.arange(4), pl.Series([["a"]] * 4), pl.Series(["en", "en", "de", "de"])
    )
    asked, rng = np.repeat(np.arange(4), 500), np.random.default_rng(1)
    own = members.drawn_beside(asked, rng, 0.0)
    assert (own // 2 == asked // 2).all()
    assert set(own) == {0, 1, 2, 3}
    half = members.drawn_beside(asked, rng, 0.5)
    assert 0.7 < (half // 2 == asked // 2).mean() < 0.8  # of any language, half are of the own
