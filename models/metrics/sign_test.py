"""The exact sign test of two systems on the queries that one of them alone answers rightly.

If neither is better, each such query is as likely a win as a loss, however the queries were chosen
among those on which the two differ (Dixon and Mood 1946; McNemar's test in its exact form).
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy.special import betainc

MOST = 1000
"""Further queries beyond which none is looked for."""


def chance_if_equal(wins: int, losses: int) -> float:
    """Return the chance of so many wins or more of `wins + losses`, were both systems equal.

    It is the upper tail of the binomial distribution of ½, an incomplete beta function.
    """
    return float(betainc(wins, losses + 1, 0.5)) if wins else 1.0


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
    enough = (won > 0) & (betainc(np.maximum(won, 1), lost + 1, 0.5) <= error)
    return int(more[enough.argmax()]) if enough.any() else None
