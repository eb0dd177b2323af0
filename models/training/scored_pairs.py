"""Pairs of strings with a score, or none for paraphrases: distinct strings and rows of them.

Scores are similarities in [0, 1]; the caller brings them there from the publisher's range. Strings
that read alike when cleaned (`models/text/titles.py`) are one string, since no encoder can tell
them apart. Equal pairs are all kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from models.text.titles import clean_title

if TYPE_CHECKING:
    from jaxtyping import Float, Int
    from torch import Tensor


@dataclass(frozen=True)
class ScoredPairs:
    """Pairs as rows of distinct strings."""

    titles: list[str]
    """Distinct cleaned strings, in the order in which they come: all left ones, then right."""
    left: Int[Tensor, " pair"]
    right: Int[Tensor, " pair"]
    """Rows of `titles`."""
    scores: Float[Tensor, " pair"] | None
    """How similar each pair is, in [0, 1]; None: paraphrases, each pair is similar."""

    @classmethod
    def of(
        cls, left: Sequence[str], right: Sequence[str], scores: Sequence[float] | None = None
    ) -> ScoredPairs:
        """Make pairs in the order of the arguments; none is allowed.

        Raises:
            ValueError: the lengths differ, or a score is outside of [0, 1] or no number.
        """
        if len(left) != len(right) or (scores is not None and len(scores) != len(left)):
            scored = "no" if scores is None else len(scores)
            raise ValueError(
                f"{len(left)} left and {len(right)} right strings with {scored} scores: give one "
                "of each for every pair"
            )
        cleaned = [clean_title(title) for title in (*left, *right)]
        place = {title: row for row, title in enumerate(dict.fromkeys(cleaned))}
        rows = torch.tensor([place[title] for title in cleaned], dtype=torch.long)
        return cls(list(place), rows[: len(left)], rows[len(left) :], _checked(scores))

    def __len__(self) -> int:
        return len(self.left)


def _checked(scores: Sequence[float] | None) -> Float[Tensor, " pair"] | None:
    if scores is None:
        return None
    values = torch.tensor(scores, dtype=torch.float64)
    outside = ~((values >= 0) & (values <= 1))
    if outside.any():
        at = int(outside.nonzero()[0])
        raise ValueError(
            f"the score of pair {at} is {scores[at]}: bring scores to [0, 1], 1 for the most "
            "similar"
        )
    return values.float()
