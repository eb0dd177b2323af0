"""People's replies on titles of random rows and on disputed ones, and what they show.

In: the success of both models on the titles that people judged. Neither kind is chosen by whether a
model is right, so a title on which one model alone is right says the same, however it came to be
judged. The exact sign test is repeated as replies come. Ten looks at a quarter of an error together
have less than the error (a constant level as Pocock 1977 has it); looks at each reply have it after
some 50 titles on which one model alone is right.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from models.metrics.sign_test import chance_if_equal, still_needed
from tasks.pipeline.feedback.feedback_rows.cells import DISPUTED
from tasks.pipeline.feedback.held_out import RANDOM_TITLES
from tasks.release.gate.gate_figures import SystemResults

LEVEL = 4
"""The error is so many times that of a look."""


class Counts(NamedTuple):
    """Titles of a test, and those of them on which challenger or opponent alone is right."""

    titles: int
    wins: int
    losses: int

    @classmethod
    def of(cls, results: SystemResults | None) -> Self:
        """Count; nothing if there is no such test."""
        if results is None:
            return cls(0, 0, 0)
        difference = results.challenger - results.opponent
        return cls(len(difference), int(np.sum(difference > 0)), int(np.sum(difference < 0)))


@dataclass(frozen=True)
class Replies:
    """Judged titles of random rows, disputed ones, and the error of all looks together."""

    random: Counts
    disputed: Counts
    error: float

    @classmethod
    def of(cls, answers: Mapping[str, SystemResults], error: float) -> Self:
        """Count the replies among the results of all tests."""
        return cls(Counts.of(answers.get(RANDOM_TITLES)), Counts.of(answers.get(DISPUTED)), error)

    @property
    def titles(self) -> int:
        """How many were judged."""
        return self.random.titles + self.disputed.titles

    @property
    def wins(self) -> int:
        """Titles on which the challenger alone is right."""
        return self.random.wins + self.disputed.wins

    @property
    def losses(self) -> int:
        """Titles on which the opponent alone is right."""
        return self.random.losses + self.disputed.losses

    @property
    def show_gain(self) -> bool:
        """Whether the challenger is shown to be better."""
        return chance_if_equal(self.wins, self.losses) <= self.error / LEVEL

    def __str__(self) -> str:
        """Say how the judged titles stand."""
        return (
            f"of {self.random.titles:,} titles of random rows and {self.disputed.titles:,} disputed"
            f" ones that people judged, it alone is right on {self.wins:,} and wrong on "
            f"{self.losses:,}"
        )

    @property
    def needed(self) -> str:
        """Say how many more replies would show a gain, if they go as those before."""
        titles, wins, losses = self.disputed
        counts, level = (self.wins, self.losses), self.error / LEVEL
        if not titles:
            least = still_needed(*counts, 1, 0, level) or 0
            return f"at least {max(least, 1):,} answers on disputed titles are needed to decide"
        more = still_needed(*counts, wins / titles, losses / titles, level)
        if more is None:
            return "more answers on disputed titles like these would hardly decide for it"
        return f"{more:,} more answers on disputed titles like these would decide for it"
