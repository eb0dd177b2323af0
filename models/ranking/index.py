"""The index of every system: the distinct titles of a taxonomy and their occupations.

A title of several occupations stands once; its memberships are listed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from models.ranking.occupation_scores import Memberships


@dataclass(frozen=True)
class AliasIndex:
    """Titles, occupations and which belongs to which; a code is a place in one of the lists.

    Attributes:
        titles: distinct cleaned titles, sorted by code points.
        occupations: occupation_ids, sorted by code points.
        memberships: which title belongs to which occupation.
    """

    titles: list[str]
    occupations: list[str]
    memberships: Memberships

    @classmethod
    def of(cls, titles: Sequence[str], occupation_ids: Sequence[str]) -> AliasIndex:
        """Index cleaned titles, each with the occupation in the same place.

        Raises:
            ValueError: there is no title.
        """
        if not len(titles):
            raise ValueError("no alias: an index needs one title at least; see the stage ingest")
        # as objects: a string array would give every title the room of the longest
        distinct, title = np.unique(np.array(titles, object), return_inverse=True)
        known, occupation = np.unique(np.array(occupation_ids, object), return_inverse=True)
        memberships = Memberships.from_pairs(title, occupation, len(known))
        return cls(distinct.tolist(), known.tolist(), memberships)

    def codes(self, occupation_ids: Sequence[Sequence[str]]) -> list[list[int]]:
        """Return the codes of each query's gold; occupations outside the index are left out."""
        code = {name: number for number, name in enumerate(self.occupations)}
        return [[code[name] for name in gold if name in code] for gold in occupation_ids]


def owners_of_titles(index: AliasIndex) -> dict[str, list[int]]:
    """Return the occupations of each title of an index, ascending."""
    members = index.memberships
    names = np.repeat(np.arange(len(members.sizes)), members.sizes)
    owners: dict[str, list[int]] = {}
    for place, name in zip(members.titles.tolist(), names.tolist(), strict=True):
        owners.setdefault(index.titles[place], []).append(name)
    return owners
