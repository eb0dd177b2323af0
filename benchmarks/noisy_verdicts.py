"""People's verdicts with a share of faults: flipped ones, and corrections to a random occupation.

The faults of a smaller share are among those of a larger one, if the generators are equal.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

FEWEST = 3


def noisy(
    verdicts: pl.DataFrame, share: float, occupations: Sequence[str], rng: np.random.Generator
) -> pl.DataFrame:
    """`verdicts` with round(share · n) flipped, and as large a share of corrections made random.

    A flipped `right` becomes a `wrong` with a random correction, a flipped `wrong` a `right`
    without one; of the other corrections, round(share · their number) become random. A random
    occupation is neither the predicted nor the corrected one.

    Args:
        verdicts: schema `VERDICTS`.
        share: from 0, none, to 1, all.
        occupations: ids that random corrections are drawn from, three or more.
        rng: consumed in order.

    Raises:
        ValueError: there are fewer occupations.
    """
    if not share:
        return verdicts
    if len(occupations) < FEWEST:
        raise ValueError(f"{len(occupations)} occupations leave no random one; give {FEWEST}")
    order = rng.permutation(len(verdicts))
    flipped = np.zeros(len(verdicts), bool)
    flipped[order[: round(share * len(order))]] = True
    held = verdicts["corrected_occupation_id"].is_not_null().to_numpy()
    left = order[(held & ~flipped)[order]]
    moved = np.zeros(len(verdicts), bool)
    moved[left[: round(share * left.size)]] = True
    right = verdicts["right"].to_numpy() ^ flipped
    predicted = verdicts["predicted_occupation_id"].to_list()
    corrected = verdicts["corrected_occupation_id"].to_list()
    for row in np.flatnonzero(flipped | moved):
        taken = {predicted[row], corrected[row]}
        corrected[row] = None if right[row] else _stranger(occupations, taken, rng)
    return verdicts.with_columns(
        right=pl.Series(right, dtype=pl.Boolean),
        corrected_occupation_id=pl.Series(corrected, dtype=pl.String),
    )


def _stranger(occupations: Sequence[str], taken: set[str | None], rng: np.random.Generator) -> str:
    while (drawn := occupations[int(rng.integers(len(occupations)))]) in taken:
        pass
    return drawn
