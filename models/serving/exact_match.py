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

from models.serving.index import AliasIndex
from models.serving.scores import LABEL, MODEL, REVIEW
from models.serving.search import Hits
from models.text.titles import normalize_cleaned

if TYPE_CHECKING:
    from jaxtyping import Bool, Int, Int64

TAXONOMY = "taxonomy"
"""Decides where the title is one of its own; else `REVIEW`, `LABEL` or `MODEL` do."""
DECIDED_BY = (MODEL, TAXONOMY, LABEL, REVIEW)
"""All of these, by which tables of answers number them."""
HEAD = 12  # titles that a word ends; with more it is the head of others' titles
SHORT = 3  # letters of an abbreviation at most
REMEMBERED = 1 << 16  # titles of the index whose meaning is remembered; looking it up takes long
NOBODY: tuple[list[int], bool] = [], False
BELOW = 1.0  # an occupation that people rejected scores less than all others by this


class Batch(NamedTuple):
    """Cleaned titles, looked up in the index: no later step looks them up again.

    Attributes:
        titles: cleaned.
        normalized: what counts as the same title.
        positions: in the index, of the title as it stands or else normalized; −1 of neither.
        verbatim: whether the index has the title as it stands.
    """

    titles: list[str]
    normalized: list[str]
    positions: Int64[np.ndarray, " title"]
    verbatim: Bool[np.ndarray, " title"]

    def take(self, rows: Int[np.ndarray, " row"]) -> Batch:
        """Return some rows."""
        if len(rows) == len(self.titles):
            return self
        titles, normalized = ([own[row] for row in rows.tolist()] for own in self[:2])
        return Batch(titles, normalized, self.positions[rows], self.verbatim[rows])


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
        index: of all aliases.
        labels: of its occupations, cleaned, in their order.
        overrides: of normalized titles, the occupation that people gave; None: not a job title.
        is_label: says whether a title is an occupation's label in any language, or the form of it
            for one gender, by their positions.
        labelled: of cleaned titles, the occupations that labels in the data give.
        endings: how many titles end with a word; of others none.
        rejected: of normalized titles, the occupations that people called incorrect.
    """

    index: AliasIndex
    labels: Sequence[str]
    overrides: Mapping[str, int | None]
    is_label: Callable[[int, int], bool] = lambda occupation, title: False
    labelled: Mapping[str, list[int]] = field(default_factory=dict)
    endings: Mapping[str, int] = field(default_factory=dict)
    rejected: Mapping[str, list[int]] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        index: AliasIndex,
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
        position = {name: number for number, name in enumerate(index.occupations)}
        known: dict[str, int | None] = {}
        rejected: dict[str, list[int]] = {}
        judged = (overrides[name] for name in ("normalized", "occupation_id", "correct"))
        for title, name, correct in zip(*judged, strict=True):
            number = position.get(name)
            if correct and (name is None or number is not None):
                known[title] = number
            elif not correct and number is not None:
                rejected.setdefault(title, []).append(number)
        labelled: dict[str, list[int]] = {}
        columns = ("title", "occupation_id", "source")
        rows = zip(*(exemplars[name] for name in columns), strict=True) if exemplars else ()
        for title, name, source in rows:
            number = position.get(name)
            if source == LABEL and number is not None:
                labelled.setdefault(title, []).append(number)
        return cls(index, labels, known, is_label, labelled, endings or {}, rejected)

    def resolve(self, titles: Sequence[str]) -> Batch:
        """Look up cleaned titles, as they stand and normalized."""
        normalized, positions = normalize_cleaned(titles), self.index.positions(titles)
        verbatim = positions >= 0
        missing = (~verbatim).nonzero()[0]
        positions[missing] = self.index.positions([normalized[row] for row in missing.tolist()])
        return Batch([*titles], normalized, positions, verbatim)

    def replaced(self, batch: Batch, changed: Mapping[int, str]) -> Batch:
        """Return a batch with other titles in some rows."""
        if not changed:
            return batch
        rows, others = [*changed], self.resolve([*changed.values()])
        titles, normalized = [*batch.titles], [*batch.normalized]
        for at, row in enumerate(rows):
            titles[row], normalized[row] = others.titles[at], others.normalized[at]
        positions, verbatim = batch.positions.copy(), batch.verbatim.copy()
        positions[rows], verbatim[rows] = others.positions, others.verbatim
        return Batch(titles, normalized, positions, verbatim)

    def known(self, batch: Batch) -> Bool[np.ndarray, " title"]:
        """Say which titles are in the index, or had occupations accepted or rejected by people."""
        known: Bool[np.ndarray, " title"] = batch.positions >= 0
        if self.overrides or self.rejected:
            judged = (
                self.overrides.get(title) is not None or title in self.rejected
                for title in batch.normalized
            )
            known |= np.fromiter(judged, bool, len(known))
        return known

    def are_none(self, batch: Batch) -> Bool[np.ndarray, " title"]:
        """Say which titles people judged not to be job titles."""
        return np.array([self.overrides.get(title, 0) is None for title in batch.normalized], bool)

    @cached_property
    def most_rejected(self) -> int:
        """How many occupations people called incorrect for one title, at most."""
        return max(map(len, self.rejected.values()), default=0)

    def demote_rejected(self, batch: Batch, hits: Hits, needed: int) -> Hits:
        """Put the occupations that people called incorrect last, in place; return `needed` hits."""
        for row, title in enumerate(batch.normalized if self.rejected else ()):
            if wrong := self.rejected.get(title):
                order = np.isin(hits.occupations[row], wrong).argsort(kind="stable")
                for ranked in (hits.occupations, hits.titles):
                    ranked[row] = ranked[row, order]
                hits.scores[row, wrong] = hits.scores[row].min() - BELOW
        occupations, titles = hits.occupations[:, :needed], hits.titles[:, :needed]
        return hits._replace(occupations=occupations, titles=titles)

    def __call__(self, batch: Batch, hits: Hits) -> dict[int, Decision]:
        """Rank the owners of each title first, in place.

        Return, by row, what decided the answers that the model did not decide alone.
        """
        decidable = batch.positions >= 0
        if self.labelled:
            decidable |= np.fromiter(
                map(self.labelled.__contains__, batch.titles), bool, len(decidable)
            )
        if self.overrides:
            decidable |= np.fromiter(
                map(self.overrides.__contains__, batch.normalized), bool, len(decidable)
            )
        decided = {}
        for row in decidable.nonzero()[0].tolist():
            if decision := self._decide(row, batch, hits):
                decided[row] = decision
        return decided

    def _decide(self, row: int, batch: Batch, hits: Hits) -> Decision | None:
        override, best = self.overrides.get(batch.normalized[row]), hits.occupations[row]
        position = int(batch.positions[row])
        owners, settled = self._meaning(position) if position >= 0 else NOBODY
        if override is not None:
            owners, settled = [override], True
        if not owners:
            by_label = best[0] in self.labelled.get(batch.titles[row], ())
            return Decision(LABEL, [], settled=False) if by_label else None
        scores, by = hits.scores[row], TAXONOMY if override is None else REVIEW
        ranked = sorted(owners, key=lambda owner: (-scores[owner], owner))[: len(best)]
        least = 1.0 if by == REVIEW else -np.inf  # 1 is the similarity of a title to itself
        most = max(scores[best[0]], least)
        for owner in ranked:
            scores[owner] = max(scores[owner], most)
        for owner in reversed(ranked):
            if owner != best[0]:
                self._put_first(row, hits, owner, position)
        return Decision(by, owners, settled)

    def _put_first(self, row: int, hits: Hits, owner: int, position: int) -> None:
        """Rank an occupation first, by the title itself or, where it is no alias, its label."""
        best, closest = hits.occupations[row], hits.titles[row]
        ranks = (best == owner).nonzero()[0]
        end = ranks[0] if len(ranks) else len(best) - 1
        is_alias = position >= 0 and owner in self.index.owners_of(position)
        alias = position if is_alias else self.index.positions([self.labels[owner]])[0]
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

        def meaning(position: int) -> tuple[list[int], bool]:
            owners, title = self.index.owners_of(position), self.index.titles[position]
            called = [name for name in owners if self.labels[name] == title]
            is_short = 1 < len(title) <= SHORT
            if not called and not is_short and self.endings.get(title, 0) > HEAD:
                return NOBODY
            called = called or [name for name in owners if self.is_label(name, position)]
            return called or owners, is_short or bool(called)

        return lru_cache(REMEMBERED)(meaning)
