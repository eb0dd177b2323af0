"""Two systems on the same queries: how far their shares lie apart, and the exact sign test.

A query counts as a win where only the first system is right, as a loss where only the second is; a
tie by expectation counts in part. The score test of Tango 1998 of "the true difference is Δ"
divides wins − losses − nΔ by its deviation under that very hypothesis (Statistics in Medicine 17,
pages 891 to 908, equation 4). Its error stays at what is asked for even where few answers differ
(`docs/LOG.md`).

The sign test looks at wins and losses alone. If neither system is better, each of these queries is
as likely a win as a loss (Dixon and Mood 1946; McNemar's test in its exact form).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache, lru_cache
from statistics import NormalDist
from typing import TYPE_CHECKING, Self

import numpy as np
import scipy

if TYPE_CHECKING:
    from jaxtyping import Float

HALVINGS = 40  # of the range of differences: an end is exact to 2e-12
MOST = 1000  # further queries beyond which none is looked for


@dataclass(frozen=True)
class PairedShares:
    """The outcome of two systems on the same queries."""

    wins: float
    losses: float
    queries: int

    @classmethod
    def of(cls, first: Float[np.ndarray, " query"], second: Float[np.ndarray, " query"]) -> Self:
        """Count the answers of two systems, each in [0, 1], the queries in one order.

        ValueError if the lengths differ, there is no query, or a value is not finite.
        """
        if len(first) != len(second) or not len(first):
            raise ValueError(f"{len(first)} and {len(second)} values: give both the same queries")
        differences = np.asarray(first, float) - np.asarray(second, float)
        if not np.isfinite(differences).all():
            raise ValueError("a value is not finite; give all")
        wins, losses = differences.clip(0).sum(), (-differences).clip(0).sum()
        return cls(float(wins), float(losses), len(differences))

    @property
    def difference(self) -> float:
        """The first system's share less the second's."""
        return (self.wins - self.losses) / self.queries

    def statistic(self, difference: float) -> float:
        """Standard normal if `difference`, within (−1, 1), is the true one; falls as that rises."""
        wins, losses, n = self.wins, self.losses, self.queries
        beyond = wins - losses - n * difference
        # share of losses that is likeliest if the difference is the true one: 2n q² + bq + c = 0
        spread = difference * (1 - difference)
        b = (2 * n - wins + losses) * difference - wins - losses
        root = math.sqrt(max(b * b + 8 * n * losses * spread, 0.0))
        variance = n * (2 * (root - b) / (4 * n) + spread)
        if variance <= 0:
            return math.copysign(math.inf, beyond) if beyond else 0.0
        return beyond / math.sqrt(variance)

    def above(self, difference: float, error: float) -> bool:
        """Say whether the true difference is shown to be larger, at a one-sided `error`."""
        return self.statistic(difference) > _quantile(error)

    @lru_cache(maxsize=2**16)  # noqa: B019  # replays meet the same outcomes again and again
    def low(self, error: float) -> float:
        """Return the largest difference that `above` affirms: the one-sided lower end."""
        below, end = -1.0, self.difference
        for _ in range(HALVINGS):
            middle = (below + end) / 2
            below, end = (middle, end) if self.above(middle, error) else (below, middle)
        return end

    def high(self, error: float) -> float:
        """Return the one-sided upper end."""
        return -PairedShares(self.losses, self.wins, self.queries).low(error)

    def needed(self, difference: float, error: float) -> int | None:
        """Return how many queries with such answers show more than `difference`, or None."""
        statistic = self.statistic(difference) if self.difference > difference else 0.0
        if statistic <= 0:
            return None
        return math.floor(self.queries * (_quantile(error) / statistic) ** 2) + 1


def chance_if_equal(wins: int, losses: int) -> float:
    """Return the binomial chance of so many wins or more, were both systems equal."""
    return float(scipy.special.betainc(wins, losses + 1, 0.5)) if wins else 1.0


@lru_cache(maxsize=2**16)  # replays meet the same outcomes again and again
def still_needed(
    wins: int, losses: int, win_share: float, loss_share: float, error: float
) -> int | None:
    """Return how many more queries would show the first system better; None if `MOST` do not.

    `win_share` and `loss_share`: of these queries, expected; 0 if it is enough already.
    """
    more = np.arange(MOST + 1)
    won = wins + np.floor(more * win_share)
    lost = losses + np.ceil(more * loss_share)
    enough = (won > 0) & (scipy.special.betainc(np.maximum(won, 1), lost + 1, 0.5) <= error)
    return int(more[enough.argmax()]) if enough.any() else None


@cache
def _quantile(error: float) -> float:
    return NormalDist().inv_cdf(1 - error)
