"""The taxonomy's ids, labels and codes of what an index numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pyarrow as pa

from models.normalizer.answers.arrays import arrow_lists
from models.normalizer.answers.differences import Differences
from models.normalizer.spellings import Spellings, texts_of
from models.search.index import AliasIndex

if TYPE_CHECKING:
    from jaxtyping import Float64, Int, Int64, Shaped


@dataclass(frozen=True)
class TaxonomyLabels:
    """Arrays of text, by the codes of an index.

    Attributes:
        occupations: occupation_id of each.
        labels: preferred title of each, of its own language.
        codes: hierarchy above each, broad to narrow, as a list.
        crosswalk_codes: of other standards, as a list.
        spellings: of its titles, in their languages.
    """

    occupations: Shaped[np.ndarray, " occupation"]
    labels: Shaped[np.ndarray, " occupation"]
    codes: Shaped[np.ndarray, " occupation"]
    crosswalk_codes: Shaped[np.ndarray, " occupation"]
    spellings: Spellings

    @classmethod
    def of(
        cls,
        index: AliasIndex,
        aliases: Mapping[str, Sequence[Any]],
        occupations: Mapping[str, Sequence[Any]],
    ) -> Self:
        """Read the taxonomy behind an index of all aliases.

        `aliases` has the columns that `Spellings` reads; `occupations` has `occupation_id,
        occupation_label, codes, crosswalk_codes`.
        """
        place = {name: row for row, name in enumerate(occupations["occupation_id"])}
        rows = [place[name] for name in index.occupations]
        labels, codes, crosswalk_codes = (
            texts_of([occupations[name][row] for row in rows])
            for name in ("occupation_label", "codes", "crosswalk_codes")
        )
        spellings = Spellings.of(aliases, labels)
        return cls(texts_of(index.occupations), labels, codes, crosswalk_codes, spellings)

    def label(self, occupation: int, language: str | None) -> str:
        """Return the preferred title of an occupation in a language, or its own."""
        spoken = self.spellings.languages
        if language in spoken:
            return str(self.spellings.labels[spoken.index(language), occupation])
        return str(self.labels[occupation])

    def confident_codes(
        self,
        sure: Float64[np.ndarray, "query level"],
        answers: Int[np.ndarray, " query"],
        least: float,
    ) -> Int64[np.ndarray, " query"]:
        """Return the narrowest code of each answer, or its id, that is sure enough; −1 if none is.

        They are places in `code_names`.
        """
        codes: Int64[np.ndarray, " query"] = self._narrow[1][answers, (sure >= least).sum(axis=1)]
        return codes

    @property
    def code_names(self) -> list[str]:
        """All ids and codes."""
        return self._narrow[0]

    @cached_property
    def _narrow(self) -> tuple[list[str], Int64[np.ndarray, "occupation level"]]:
        """Ids and codes, and of each occupation their places: none, then broad to narrow."""
        depth = max(map(len, self.codes), default=0)
        place: dict[str, int] = {}
        rows = [
            [
                -1,
                *(
                    place.setdefault(own[min(level, len(own) - 1)], len(place)) if own else -1
                    for level in range(depth)
                ),
                place.setdefault(name, len(place)),
            ]
            for name, own in zip(self.occupations, self.codes, strict=True)
        ]
        return [*place], np.array(rows, np.int64)

    @cached_property
    def differences(self) -> Differences:
        """Compares the words of spellings and, numbered behind these, of labels."""
        return Differences([self.spellings.written, self.spellings.labels.reshape(-1).tolist()])

    @cached_property
    def code_counts(self) -> Int64[np.ndarray, " occupation"]:
        """How many codes stand above each."""
        return np.array([*map(len, self.codes)], np.int64)

    @cached_property
    def crosswalk_lists(self) -> pa.ListArray:
        """Codes of other standards of each occupation, and an empty list at last."""
        return arrow_lists([*self.crosswalk_codes, []])

    def code_lists(self, depth: int) -> pa.ListArray:
        """Return the first `depth` codes of each occupation (0: all), an empty list at last."""
        if depth not in self._code_lists:
            codes = [own[: depth or None] for own in self.codes]
            self._code_lists[depth] = arrow_lists([*codes, []])
        return self._code_lists[depth]

    @cached_property
    def _code_lists(self) -> dict[int, pa.ListArray]:
        return {}
