"""The index of a normalizer: distinct cleaned titles, their occupations, and how aliases read.

A title of several occupations is embedded once; its memberships are listed. `matched_title` is
the alias as the taxonomy writes it, not the cleaned title that the encoder sees.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from models.occupation_scores import Memberships
from models.titles import clean_title

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class TitleIndex:
    """What a block of similarities is read with; a code is a place in one of the lists.

    Attributes:
        titles: distinct cleaned titles, sorted by code points.
        occupations: occupation_ids, sorted by code points.
        memberships: which title belongs to which occupation.
        written: the taxonomy's first alias of each (title code, occupation code).
    """

    titles: list[str]
    occupations: list[str]
    memberships: Memberships
    written: dict[tuple[int, int], str]

    @classmethod
    def of(cls, aliases: pa.Table) -> TitleIndex:
        """Index of all rows of `aliases`: `occupation_id`, `title`.

        Raises:
            ValueError: there is no alias.
        """
        if not aliases.num_rows:
            raise ValueError("no alias: an index needs one title at least; see the stage ingest")
        written = aliases["title"].to_pylist()
        cleaned = [clean_title(title) for title in written]
        identifiers = aliases["occupation_id"].to_pylist()
        titles, title_codes = _coded(cleaned)
        occupations, occupation_codes = _coded(identifiers)
        shown: dict[tuple[int, int], str] = {}
        for title, occupation, text in zip(title_codes, occupation_codes, written, strict=True):
            shown.setdefault((title, occupation), text)
        memberships = Memberships.from_pairs(
            np.array(title_codes), np.array(occupation_codes), len(occupations)
        )
        return cls(titles, occupations, memberships, shown)


def _coded(values: list[str]) -> tuple[list[str], list[int]]:
    """The distinct values, sorted, and each value's place among them."""
    distinct = sorted(set(values))
    place = {value: number for number, value in enumerate(distinct)}
    return distinct, [place[value] for value in values]
