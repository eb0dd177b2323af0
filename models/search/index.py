"""The index of every system: the distinct titles of a taxonomy and their occupations.

A title of several occupations stands once; its memberships are listed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from models.search.occupation_scores import Memberships


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
        names, occupation = np.unique(np.array(occupation_ids, object), return_inverse=True)
        memberships = Memberships.from_pairs(title, occupation, len(names))
        return cls(distinct.tolist(), names.tolist(), memberships)

    def codes(self, occupation_ids: Sequence[Sequence[str]]) -> list[list[int]]:
        """Return the codes of each query's gold; occupations outside the index are left out."""
        code = {name: number for number, name in enumerate(self.occupations)}
        return [[code[name] for name in gold if name in code] for gold in occupation_ids]

    @cached_property
    def owners(self) -> dict[str, list[int]]:
        """The occupations of each title, ascending."""
        members = self.memberships
        names = np.repeat(np.arange(len(members.sizes)), members.sizes)
        owners: dict[str, list[int]] = {}
        for place, name in zip(members.titles.tolist(), names.tolist(), strict=True):
            owners.setdefault(self.titles[place], []).append(name)
        return owners
