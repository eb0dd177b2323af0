"""Exact matches: titles whose occupation people or the taxonomy itself give.

A soft score adds up over aliases, so a neighbour with many close ones may outdo the occupation that
has the very title. Overrides by people come first, whatever the spelling. An occupation that people
called incorrect ranks last. Else, of the occupations with this title as label, as label in a
further language, or else as alias, the best-scoring one ranks first, the others behind it, with the
best score of all at least. A label that came with the data puts nothing first: it is one more
alias, with the chance of being wrong that such labels have.
Evaluation and gate have no exact match; no query of a test is a title of its index.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from models.normalizer.loops.title_lot import TitleLot, normalized
from models.search.exemplars import LABEL, MODEL, REVIEW
from models.search.search import Hits
from models.search.title_places import TitlePlaces, are_among, hashes_of
from models.search.words.word_evidence import SHORT

if TYPE_CHECKING:
    from jaxtyping import Bool, Int64, UInt64

TAXONOMY = "taxonomy"
"""Decides where the title is one of its own; else `REVIEW`, `LABEL` or `MODEL` do."""
DECIDED_BY = (MODEL, TAXONOMY, LABEL, REVIEW)
"""All of these, by which tables of answers number them."""
HEAD = 12
"""Titles that a word ends; with more it is the head of others' titles."""
REMEMBERED = 1 << 16
"""Titles of the index whose meaning is remembered; looking it up takes long."""
NOBODY: tuple[list[int], bool] = [], False
BELOW = 1.0
"""An occupation that people rejected scores less than all others by this."""


class Decision(NamedTuple):
    """The reason of an answer.

    Attributes:
        by: one of `REVIEW, LABEL, TAXONOMY`.
        owners: occupations with the very title, the answer among them; none by label.
        settled: whether the title means them alone: an abbreviation, or a label of the answer. A
            taxonomy has broad aliases of narrow occupations ("team leader" of a zoo's).
    """

    by: str
    owners: list[int]
    settled: bool


@dataclass(frozen=True, eq=False)
class ExactMatch:
    """Puts the owners of a known title first.

    Attributes:
        places: finds titles in an index of all aliases.
        labels: of its occupations, cleaned, in their order.
        overrides: of normalized titles, the occupation that people gave; None: not a job title.
        is_label: says whether a title is an occupation's label in any language, or the form of it
            for one gender, by their codes.
        labelled: of cleaned titles, the occupations that labels in the data give.
        endings: how many titles end with a word; of others none.
        rejected: of normalized titles, the occupations that people called incorrect.
    """

    places: TitlePlaces
    labels: Sequence[str]
    overrides: Mapping[str, int | None]
    is_label: Callable[[int, int], bool] = lambda occupation, title: False
    labelled: Mapping[str, list[int]] = field(default_factory=dict)
    endings: Mapping[str, int] = field(default_factory=dict)
    rejected: Mapping[str, list[int]] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        places: TitlePlaces,
        labels: Sequence[str],
        overrides: Mapping[str, Sequence[Any]],
        is_label: Callable[[int, int], bool] = lambda occupation, title: False,
        exemplars: Mapping[str, Sequence[Any]] | None = None,
        endings: Mapping[str, int] | None = None,
    ) -> Self:
        """Look up the titles of an index; an override by an unknown occupation_id is dropped.

        `overrides` has the columns `normalized, occupation_id, correct`, `exemplars` the columns
        `title, occupation_id, source`.
        """
        code = {name: number for number, name in enumerate(places.index.occupations)}
        known: dict[str, int | None] = {}
        rejected: dict[str, list[int]] = {}
        judged = (overrides[name] for name in ("normalized", "occupation_id", "correct"))
        for title, name, correct in zip(*judged, strict=True):
            number = code.get(name)
            if correct and (name is None or number is not None):
                known[title] = number
            elif not correct and number is not None:
                rejected.setdefault(title, []).append(number)
        labelled: dict[str, list[int]] = {}
        columns = ("title", "occupation_id", "source")
        rows = zip(*(exemplars[name] for name in columns), strict=True) if exemplars else ()
        for title, name, source in rows:
            number = code.get(name)
            if source == LABEL and number is not None:
                labelled.setdefault(title, []).append(number)
        return cls(places, labels, known, is_label, labelled, endings or {}, rejected)

    def override(self, title: str) -> int | None:
        """Return the occupation that people gave to a cleaned title, if any."""
        return self.overrides.get(normalized(title)) if self.overrides else None

    def __contains__(self, title: object) -> bool:
        """Say whether people judged a cleaned title, or it is one of the index."""
        return isinstance(title, str) and bool(self.known([title])[0])

    def known(self, titles: Sequence[str]) -> Bool[np.ndarray, " title"]:
        """Say which cleaned titles people judged, or are some of the index."""
        known: Bool[np.ndarray, " title"] = self.places_of(titles) >= 0
        for row in self._judged(titles):
            known[row] |= self.override(titles[row]) is not None or bool(self._wrong(titles[row]))
        return known

    def are_none(self, titles: Sequence[str]) -> Bool[np.ndarray, " title"]:
        """Say which cleaned titles people judged not to be job titles."""
        none = np.zeros(len(titles), bool)
        for row in self._judged(titles) if self.overrides else ():
            none[row] = self.overrides.get(normalized(titles[row]), 0) is None
        return none

    def _judged(self, titles: Sequence[str]) -> list[int]:
        """Return the rows that people may have judged."""
        if not self.overrides and not self.rejected:
            return []
        if isinstance(titles, TitleLot):
            return are_among(self._judged_hashes, titles.normalized_hashes)
        return [*range(len(titles))]

    def _labelled(self, titles: Sequence[str]) -> list[int]:
        """Return the rows of titles that labels in the data give."""
        if self.labelled and isinstance(titles, TitleLot):
            return are_among(self._labelled_hashes, titles.hashes)
        return [row for row, title in enumerate(titles) if title in self.labelled]

    @cached_property
    def _judged_hashes(self) -> UInt64[np.ndarray, " title"]:
        return np.sort(hashes_of([*self.overrides, *self.rejected]))

    @cached_property
    def _labelled_hashes(self) -> UInt64[np.ndarray, " title"]:
        return np.sort(hashes_of([*self.labelled]))

    @cached_property
    def most_rejected(self) -> int:
        """How many occupations people called incorrect for one title, at most."""
        return max(map(len, self.rejected.values()), default=0)

    def accepted(self, titles: Sequence[str], hits: Hits, depth: int) -> Hits:
        """Return the `depth` best occupations, with those last that people called incorrect."""
        for row in self._judged(titles) if self.rejected else ():
            if wrong := self._wrong(titles[row]):
                order = np.argsort(np.isin(hits.occupations[row], wrong), kind="stable")
                for ranked in (hits.occupations, hits.titles):
                    ranked[row] = ranked[row, order]
                hits.scores[row, wrong] = hits.scores[row].min() - BELOW
        return hits._replace(occupations=hits.occupations[:, :depth], titles=hits.titles[:, :depth])

    def _wrong(self, title: str) -> list[int]:
        return self.rejected.get(normalized(title), []) if self.rejected else []

    def __call__(self, titles: Sequence[str], hits: Hits) -> dict[int, Decision]:
        """Rank the owners of each cleaned title first, in place.

        Return, by row, what decided the answers that the model did not decide alone.
        """
        places = self.places_of(titles)
        known = {*np.flatnonzero(places >= 0).tolist(), *self._labelled(titles)}
        known |= {*self._judged(titles)} if self.overrides else set()
        decided = {}
        for row in sorted(known):
            if decision := self._decide(row, titles[row], int(places[row]), hits):
                decided[row] = decision
        return decided

    def places_of(self, titles: Sequence[str]) -> Int64[np.ndarray, " title"]:
        """Return the places of titles as the index has them, or else without punctuation."""
        places = self.places(titles)
        missing = np.flatnonzero(places < 0)
        places[missing] = (
            self.places.of_hashes(titles.normalized_hashes[missing])
            if isinstance(titles, TitleLot)
            else self.places([normalized(titles[row]) for row in missing.tolist()])
        )
        return places

    def _decide(self, row: int, title: str, place: int, hits: Hits) -> Decision | None:
        override, best = self.override(title), hits.occupations[row]
        owners, settled = self._meaning(place) if place >= 0 else NOBODY
        if override is not None:
            owners, settled = [override], True
        if not owners:
            by_label = best[0] in self.labelled.get(title, ())
            return Decision(LABEL, [], settled=False) if by_label else None
        scores, by = hits.scores[row], TAXONOMY if override is None else REVIEW
        ranked = sorted(owners, key=lambda owner: (-scores[owner], owner))[: len(best)]
        least = 1.0 if by == REVIEW else -np.inf  # 1 is the similarity of a title to itself
        most = max(scores[best[0]], least)
        for owner in ranked:
            scores[owner] = max(scores[owner], most)
        for owner in reversed(ranked):
            if owner != best[0]:
                self._put_first(row, hits, owner, place)
        return Decision(by, owners, settled)

    def _put_first(self, row: int, hits: Hits, owner: int, place: int) -> None:
        """Rank an occupation first, by the title itself or, where it is no alias, its label."""
        best, closest = hits.occupations[row], hits.titles[row]
        ranks = np.flatnonzero(best == owner)
        end = ranks[0] if len(ranks) else len(best) - 1
        is_alias = place >= 0 and owner in self.places.index.owners_of(place)
        alias = place if is_alias else self.places.index.place(self.labels[owner])
        best[: end + 1] = owner, *best[:end]
        closest[: end + 1] = alias, *closest[:end]

    @cached_property
    def _meaning(self) -> Callable[[int], tuple[list[int], bool]]:
        """Look up whom a title of the index means, and whether it means them alone.

        It means the owners that have it as label, as label in a further language, or as alias. A
        label means them alone, as an abbreviation does, but no single letter. A title that is but
        the head of others' titles means nobody: ESCO has "driver" as an alias of the hearse driver,
        and "manager" as the Swedish label of the talent agent. An own label always means its owner.
        """

        def meaning(place: int) -> tuple[list[int], bool]:
            owners, title = self.places.index.owners_of(place), self.places.index.titles[place]
            called = [name for name in owners if self.labels[name] == title]
            is_short = 1 < len(title) <= SHORT
            if not called and not is_short and self.endings.get(title, 0) > HEAD:
                return NOBODY
            called = called or [name for name in owners if self.is_label(name, place)]
            return called or owners, is_short or bool(called)

        return lru_cache(REMEMBERED)(meaning)
