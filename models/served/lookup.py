"""Titles that stand in the taxonomy, answered with an occupation that has them.

A soft score adds up over aliases, so that a neighbour with many close ones may outdo the one
occupation that has the very title. Of the occupations whose label a title is, else of those with
such an alias, the one that scores best ranks first, with the best score of all at least; nothing
else changes. A title that people judged is left to the search, where what they said counts; what
the network guessed of it does not. No query of any test is a title of the index that it is asked
of, so that evaluation and gate need no look-up.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from models.answer.index import AliasIndex
from models.answer.search import Hits


@dataclass(frozen=True)
class Lookup:
    """Whose a title is.

    Attributes:
        titles: of the index, sorted.
        owners: of each title that is looked up, the occupations that may be its answer.
    """

    titles: Sequence[str]
    owners: Mapping[str, Sequence[int]]

    @classmethod
    def of(cls, index: AliasIndex, labels: Sequence[str], judged: Container[str]) -> Self:
        """Look up the titles of an index.

        Args:
            index: of all aliases.
            labels: of its occupations, cleaned, in their order.
            judged: titles that are left to the search.
        """
        owners = {
            title: [name for name in own if labels[name] == title] or own
            for title, own in owners_of_titles(index).items()
            if title not in judged
        }
        return cls(index.titles, owners)

    def __call__(self, titles: Sequence[str], hits: Hits) -> Hits:
        """Rank the owner of each title first; the hits are changed in place, and returned."""
        for row, title in enumerate(titles):
            own = self.owners.get(title)
            if own is None:
                continue
            scores, best, closest = hits.scores[row], hits.occupations[row], hits.titles[row]
            owner = own[int(scores[own].argmax())]
            if owner == best[0]:
                continue
            scores[owner] = max(scores[owner], scores[best[0]])
            found = np.flatnonzero(best == owner)
            end = found[0] if len(found) else len(best) - 1
            best[: end + 1] = owner, *best[:end]
            closest[: end + 1] = bisect_left(self.titles, title), *closest[:end]
        return hits


def owners_of_titles(index: AliasIndex) -> dict[str, list[int]]:
    """Return the occupations of each title of an index, ascending."""
    members = index.memberships
    names = np.repeat(np.arange(len(members.sizes)), members.sizes)
    owners: dict[str, list[int]] = {}
    for place, name in zip(members.titles.tolist(), names.tolist(), strict=True):
        owners.setdefault(index.titles[place], []).append(name)
    return owners
