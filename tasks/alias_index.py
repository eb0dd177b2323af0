"""What every system answers from: the distinct titles of the taxonomy and their occupations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from models.occupation_scores import Memberships
from models.titles import clean_title

if TYPE_CHECKING:
    from jaxtyping import Float32

Similarities = Callable[[Sequence[str]], "Float32[np.ndarray, 'query title']"]
"""A system as one function: queries in, similarities to the titles of the index out."""


@dataclass(frozen=True)
class AliasIndex:
    """Distinct titles (as encoders see them), and which occupations they belong to."""

    titles: list[str]
    occupations: list[str]
    """occupation_ids, sorted; a code is a place in this list."""
    memberships: Memberships

    @classmethod
    def of(cls, aliases: pl.DataFrame) -> AliasIndex:
        """Index of all rows of `aliases` (at least `occupation_id` and `title`)."""
        cleaned = [clean_title(title) for title in aliases["title"]]
        # as objects: a string array would give every title the room of the longest
        titles, title = np.unique(np.array(cleaned, object), return_inverse=True)
        occupations, occupation = np.unique(
            aliases["occupation_id"].to_numpy(), return_inverse=True
        )
        return cls(
            titles.tolist(),
            occupations.tolist(),
            Memberships.from_pairs(title, occupation, len(occupations)),
        )

    def codes(self, occupation_ids: Sequence[Sequence[str]]) -> list[list[int]]:
        """Codes of each query's gold; occupations outside the index are left out."""
        code = {name: number for number, name in enumerate(self.occupations)}
        return [[code[name] for name in gold if name in code] for gold in occupation_ids]
