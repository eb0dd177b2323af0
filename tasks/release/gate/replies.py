"""People's replies on titles that two models answer differently, and what they show.

In: both models' success on the labelled inputs and on disputed titles that people judged. A model
is shown to be better if the exact sign test over both rejects that it is not. Labelled inputs count
too, because a title on which one model alone is right says the same, however it came to be judged.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from models.metrics.sign_test import chance_if_equal, still_needed
from tasks.release.gate.gate_figures import SystemResults


@dataclass(frozen=True)
class Replies:
    """Judged titles, by which of two models alone is right.

    Attributes:
        answers: disputed titles that were judged.
        wins, losses: of these, those that challenger or opponent alone answers rightly.
        other_wins, other_losses: the same of the labelled inputs.
        error: of the test.
    """

    answers: int
    wins: int
    losses: int
    other_wins: int
    other_losses: int
    error: float

    @classmethod
    def of(
        cls, disputed: SystemResults | None, labelled: SystemResults | None, error: float
    ) -> Self:
        """Count."""
        return cls(
            0 if disputed is None else len(disputed.challenger),
            *_counts(disputed),
            *_counts(labelled),
            error,
        )

    @property
    def show_gain(self) -> bool:
        """Whether the challenger is shown to be better, with replies on disputed titles."""
        wins, losses = self.wins + self.other_wins, self.losses + self.other_losses
        return self.answers > 0 and chance_if_equal(wins, losses) <= self.error

    def __str__(self) -> str:
        """Say how the judged titles stand."""
        return (
            f"of {self.answers:,} disputed titles that people judged, it alone is right on "
            f"{self.wins:,} and wrong on {self.losses:,}"
        )

    @property
    def needed(self) -> str:
        """Say how many more replies would show a gain, if they go as those before."""
        counts = self.wins + self.other_wins, self.losses + self.other_losses
        if not self.answers:
            least = max(still_needed(*counts, 1, 0, self.error) or 0, 1)
            return f"at least {least:,} answers on disputed titles are needed to decide"
        shares = self.wins / self.answers, self.losses / self.answers
        more = still_needed(*counts, *shares, self.error)
        if more is None:
            return f"{self}, so more answers on them would hardly decide for it"
        return f"{self}; {more:,} more answers on disputed titles like these would decide for it"


def _counts(results: SystemResults | None) -> tuple[int, int]:
    if results is None:
        return 0, 0
    difference = results.challenger - results.opponent
    return int(np.sum(difference > 0)), int(np.sum(difference < 0))
