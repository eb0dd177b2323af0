"""The titles closest to given ones, of the taxonomy or of a list of the caller's own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from jaxtyping import Float32

AT_ONCE = 256
"""Titles compared at once: their similarities to 100,000 others take 100 MB."""


class Neighbour(NamedTuple):
    """One of the closest titles; `rank` 1 is the closest, `similarity` a cosine."""

    row: int
    rank: int
    place: int
    similarity: float


def closest(
    titles: Sequence[str],
    embed: Callable[[Sequence[str]], Float32[np.ndarray, "title dim"]],
    others: Float32[np.ndarray, "other dim"],
    k: int,
) -> Iterator[Neighbour]:
    """Yield of each title the `k` closest others, or all if there are fewer.

    Equal ones stand in their own order.

    Raises:
        ValueError: `k` is below 1.
    """
    if k < 1:
        raise ValueError(f"k = {k}; it must be 1 or more")
    for start in range(0, len(titles), AT_ONCE):
        similarities = embed(titles[start : start + AT_ONCE]) @ others.T
        best = np.argsort(-similarities, axis=1, kind="stable")[:, :k]
        for row, places in enumerate(best.tolist()):
            for rank, place in enumerate(places, start=1):
                yield Neighbour(start + row, rank, place, float(similarities[row, place]))
