"""Places of titles beside the index's own, one by one and by their hashes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.search import title_places
from models.search.index import AliasIndex
from models.search.title_places import TitlePlaces

ANY = st.text(st.characters(exclude_categories=()), max_size=3)  # lone surrogates too


@given(st.lists(ANY | st.text("ab", max_size=3), min_size=1), st.lists(ANY | st.text("ab")))
def test_places_and_owners_are_those_of_the_index(titles: list[str], others: list[str]) -> None:
    index = AliasIndex.of(titles, [str(number % 3) for number in range(len(titles))])
    asked = [*titles, *others]
    expected = [-1 if place is None else place for place in map(index.place, asked)]
    with pytest.MonkeyPatch.context() as patch:
        for many in (len(asked) + 1, 1):
            patch.setattr(title_places, "MANY", many)
            places = TitlePlaces(index)
            assert places(asked).tolist() == expected and places([]).tolist() == []
    names = [index.occupations.index(str(row % 3)) for row in range(len(titles))]
    for title in index.titles:
        owners = {name for name, own in zip(names, titles, strict=True) if own == title}
        assert index.owners(title) == sorted(owners)
