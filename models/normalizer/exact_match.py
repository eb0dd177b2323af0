"""Exact matches: titles whose occupation people or the taxonomy itself give.

A soft score adds up over aliases, so a neighbour with many close ones may outdo the occupation that
has the very title. Overrides by people come first, whatever the spelling. Else, of the occupations
with this title as label, as label in a further language, or else as alias, the best-scoring one
ranks first, with the best score of all at least. Evaluation and gate have no exact match; no query
of a test is a title of its index.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from models.search.index import AliasIndex
from models.search.search import Hits
from models.text.titles import normalize_title

if TYPE_CHECKING:
    from jaxtyping import Bool


@dataclass(frozen=True)
class ExactMatch:
    """Puts the owner of a known title first.

    Attributes:
        index: of all aliases.
        labels: of its occupations, cleaned, in their order.
        overrides: of normalized titles, the occupation that people gave; None: not a job title.
        is_label: says whether a title is an occupation's label in any language, by their codes.
    """

    index: AliasIndex
    labels: Sequence[str]
    overrides: Mapping[str, int | None]
    is_label: Callable[[int, int], bool] = lambda occupation, title: False

    @classmethod
    def of(
        cls,
        index: AliasIndex,
        labels: Sequence[str],
        overrides: Mapping[str, str | None],
        is_label: Callable[[int, int], bool] = lambda occupation, title: False,
    ) -> Self:
        """Look up the titles of an index; an override by an unknown occupation_id is dropped."""
        code: dict[str | None, int | None] = {None: None}
        code |= {name: number for number, name in enumerate(index.occupations)}
        known = {title: code[name] for title, name in overrides.items() if name in code}
        return cls(index, labels, known, is_label)

    def is_none(self, title: str) -> bool:
        """Say whether people judged a cleaned title not to be a job title."""
        return bool(self.overrides) and self.overrides.get(normalize_title(title), 0) is None

    def __call__(self, titles: Sequence[str], hits: Hits) -> Bool[np.ndarray, " query"]:
        """Rank the owner of each cleaned title first, in place; return which have an override."""
        overridden = np.zeros(len(titles), bool)
        for row, title in enumerate(titles):
            override = self.overrides.get(normalize_title(title)) if self.overrides else None
            own = self._owners(title) if override is None else [override]
            if not own:
                continue
            overridden[row] = override is not None
            scores, best = hits.scores[row], hits.occupations[row]
            owner = own[int(scores[own].argmax())]
            least = 1.0 if overridden[row] else -np.inf  # 1 is the similarity of a title to itself
            scores[owner] = max(scores[owner], scores[best[0]], least)
            if owner != best[0]:
                self._put_first(row, hits, owner, title)
        return overridden

    def _put_first(self, row: int, hits: Hits, owner: int, title: str) -> None:
        """Rank an occupation first, by the title itself or, where it is no alias, its label."""
        best, closest = hits.occupations[row], hits.titles[row]
        places = np.flatnonzero(best == owner)
        end = places[0] if len(places) else len(best) - 1
        alias = title if owner in self.index.owners(title) else self.labels[owner]
        best[: end + 1] = owner, *best[:end]
        closest[: end + 1] = self.index.place(alias), *closest[:end]

    def _owners(self, title: str) -> list[int]:
        """Return the occupations that may be the answer to a title that the index has."""
        own, place = self.index.owners(title), self.index.place(title)
        return (
            [name for name in own if self.labels[name] == title]
            or [name for name in own if place is not None and self.is_label(name, place)]
            or own
        )
