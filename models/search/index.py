"""The index of every system: the distinct titles of a taxonomy and their occupations.

A title of several occupations stands once; its memberships are listed.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from models.search.coded import Coded
from models.search.occupation_scores import Memberships

if TYPE_CHECKING:
    from jaxtyping import Int64


@dataclass(frozen=True)
class AliasIndex:
    """Titles, occupations and which belongs to which; a code is a place in one of the lists.

    Attributes:
        titles: distinct cleaned titles, sorted by code points.
        occupations: occupation_ids, sorted by code points.
        memberships: which title belongs to which occupation.
    """

    titles: Sequence[str]
    occupations: Sequence[str]
    memberships: Memberships

    @classmethod
    def of(
        cls,
        titles: Sequence[str],
        occupation_ids: Sequence[str],
        languages: Sequence[str] | None = None,
    ) -> AliasIndex:
        """Index cleaned titles, each with the occupation, and the language, in the same place.

        Raises:
            ValueError: there is no title.
        """
        if not len(titles):
            raise ValueError("no alias: an index needs one title at least; see the stage ingest")
        title, occupation = Coded.of(titles), Coded.of(occupation_ids)
        pairs = Memberships.from_pairs(
            title.codes,
            occupation.codes,
            len(occupation.names),
            None if languages is None else Coded.of(languages),
        )
        return cls(title.names, occupation.names, pairs)

    def codes(self, occupation_ids: Sequence[Sequence[str]]) -> list[list[int]]:
        """Return the codes of each query's gold; occupations outside the index are left out."""
        code = {name: number for number, name in enumerate(self.occupations)}
        return [[code[name] for name in gold if name in code] for gold in occupation_ids]

    def place(self, title: str) -> int | None:
        """Return the code of a title; None if it is none of the index."""
        place = bisect_left(self.titles, title)
        return place if place < len(self.titles) and self.titles[place] == title else None

    def __contains__(self, title: object) -> bool:
        return isinstance(title, str) and self.place(title) is not None

    def owners(self, title: str) -> list[int]:
        """Return the occupations of a title, ascending; none of one that the index lacks."""
        place = self.place(title)
        return [] if place is None else self.owners_of(place)

    def owners_of(self, place: int) -> list[int]:
        """Return the occupations of the title with this code, ascending."""
        starts, occupations = self._by_title
        own: list[int] = occupations[starts[place] : starts[place + 1]].tolist()
        return own

    @cached_property
    def _by_title(self) -> tuple[Int64[np.ndarray, " title+1"], Int64[np.ndarray, " membership"]]:
        """Where the occupations of each title begin, and these."""
        members = self.memberships
        owners = np.repeat(np.arange(len(members.sizes)), members.sizes)
        counts = np.bincount(members.titles, minlength=len(self.titles))
        starts = np.concatenate([[0], np.cumsum(counts)])
        return starts, owners[np.argsort(members.titles, kind="stable")]
