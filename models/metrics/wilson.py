"""The 95 % interval of a share, which holds for few and for extreme counts (Wilson 1927)."""

from __future__ import annotations

import math

from models.metrics.intervals import Interval

Z = 1.959964
"""Of the normal distribution's upper 2.5 %."""


def wilson_interval(right: int, n: int) -> Interval:
    """Return right / n with its interval, both ends within 0 and 1.

    Raises:
        ValueError: `n` is below 1, or `right` is not from 0 to `n`.
    """
    if not 0 <= right <= n or n < 1:
        raise ValueError(f"{right} of {n} is no share")
    share, square = right / n, Z * Z
    centre = (share + square / (2 * n)) / (1 + square / n)
    half = Z / (1 + square / n) * math.sqrt(share * (1 - share) / n + square / (4 * n * n))
    return Interval(share, max(centre - half, 0.0), min(centre + half, 1.0))
