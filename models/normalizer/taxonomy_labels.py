"""The taxonomy's ids, labels, codes and spellings of what an index numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from models.ranking.index import AliasIndex
from models.ranking.ood_score import WORDS

if TYPE_CHECKING:
    from jaxtyping import Bool, Float64, Int, Int64, Shaped


@dataclass(frozen=True)
class TaxonomyLabels:
    """Arrays of text, by the codes of an index.

    Attributes:
        occupations: occupation_id of each.
        labels: preferred title of each.
        codes: hierarchy above each, broad to narrow, as a list.
        crosswalk_codes: of other standards, as a list.
        keys: occupation · titles + title of each membership, ascending.
        spellings: of each membership, the taxonomy's first.
        titles: how many titles the index has.
    """

    occupations: Shaped[np.ndarray, " occupation"]
    labels: Shaped[np.ndarray, " occupation"]
    codes: Shaped[np.ndarray, " occupation"]
    crosswalk_codes: Shaped[np.ndarray, " occupation"]
    keys: Int64[np.ndarray, " membership"]
    spellings: Shaped[np.ndarray, " membership"]
    titles: int

    @classmethod
    def of(
        cls,
        index: AliasIndex,
        aliases: Mapping[str, Sequence[Any]],
        occupations: Mapping[str, Sequence[Any]],
    ) -> Self:
        """Read what an index is called.

        Args:
            index: of all aliases.
            aliases: columns `title` (cleaned), `occupation_id` and `written`.
            occupations: columns `occupation_id, occupation_label, codes, crosswalk_codes`.
        """
        place = {name: row for row, name in enumerate(occupations["occupation_id"])}
        rows = [place[name] for name in index.occupations]
        names = zip(aliases["title"], aliases["occupation_id"], strict=True)
        written = dict(reversed([*zip(names, aliases["written"], strict=True)]))
        memberships = index.memberships
        owners = np.repeat(np.arange(len(index.occupations)), memberships.sizes)
        spelled = [
            written[index.titles[title], index.occupations[owner]]
            for title, owner in zip(memberships.titles.tolist(), owners.tolist(), strict=True)
        ]
        labels, codes, crosswalk_codes = (
            _texts([occupations[name][row] for row in rows])
            for name in ("occupation_label", "codes", "crosswalk_codes")
        )
        return cls(
            _texts(index.occupations),
            labels,
            codes,
            crosswalk_codes,
            owners * len(index.titles) + memberships.titles,
            _texts(spelled),
            len(index.titles),
        )

    def written(
        self, occupations: Int[np.ndarray, "query k"], titles: Int[np.ndarray, "query k"]
    ) -> Shaped[np.ndarray, "query k"]:
        """Return the taxonomy's spelling of each (occupation, title) of the index."""
        keys = occupations * self.titles + titles
        spelled: Shaped[np.ndarray, "query k"] = self.spellings[np.searchsorted(self.keys, keys)]
        return spelled

    def confident_codes(
        self,
        sure: Float64[np.ndarray, "query level"],
        answers: Int[np.ndarray, " query"],
        least: float,
    ) -> Shaped[np.ndarray, " query"]:
        """Return the narrowest code of each answer, or its id, that is sure enough; or None."""
        depth = sure.shape[1] - 1
        confident = _texts([None] * len(answers))
        for row, level in enumerate((sure >= least).sum(axis=1).tolist()):
            own = self.codes[answers[row]]
            if level > depth:
                confident[row] = self.occupations[answers[row]]
            elif level and own:
                confident[row] = own[min(level, len(own)) - 1]
        return confident

    def differences(
        self,
        occupations: Int[np.ndarray, "query k"],
        titles: Int[np.ndarray, "query k"],
        close: Bool[np.ndarray, " query"],
    ) -> tuple[list[list[str]], list[list[str]]]:
        """Return the distinguishing words of the first occupation and of the second.

        They are of the closest aliases, or of the labels where both have the same alias; rows that
        are not `close` have none.
        """
        own: list[list[str]] = [[] for _ in close]
        runner_up: list[list[str]] = [[] for _ in close]
        for row in np.flatnonzero(close).tolist():
            first, second = self.labels[occupations[row, :2]]
            if titles[row, 0] != titles[row, 1]:
                first, second = self.written(occupations[row, :2], titles[row, :2])
            own[row] = _distinguishing(first, second)
            runner_up[row] = _distinguishing(second, first)
        return own, runner_up


def _distinguishing(one: str, other: str) -> list[str]:
    """Return the words of one text that another has not, in lower case, each once."""
    theirs = set(WORDS.findall(other.lower()))
    return [word for word in dict.fromkeys(WORDS.findall(one.lower())) if word not in theirs]


def _texts(values: Sequence[Any]) -> Shaped[np.ndarray, " value"]:
    """Hold values as they are: an array of text would give each the room of the longest."""
    return np.fromiter(values, object, len(values))
