"""Which candidates are queued: no near-duplicates, and no occupation takes all of the minutes.

In: candidates, the best first, as embeddings of unit norm and the occupation answered to each. Out:
places of those that are queued, in their order. A candidate whose cosine similarity to one queued
before reaches `ALIKE` is left out. An occupation has at most a share of the budget as long as there
is something else left.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from jaxtyping import Bool, Float32

ALIKE = 0.9
LEAST, SHARE = 2, 20  # an occupation has a twentieth of the budget, two titles at least
BLOCK = 512  # candidates that are compared at once


def diversify(
    embeddings: Float32[np.ndarray, "title dim"], occupations: Sequence[str | None], budget: int
) -> list[int]:
    """Return the places of at most `budget` candidates, ascending.

    `embeddings`: of unit norm, the best candidate first; `occupations`: answered to each; None is
    one of them; `budget`: 1 or more.
    """
    limit = max(LEAST, budget // SHARE)
    queue = _Queue(embeddings, budget)
    taken: Counter[str | None] = Counter()
    spared = []
    for place in queue.unlike(range(len(embeddings))):
        if taken[occupations[place]] < limit:
            queue.add(place)
            taken[occupations[place]] += 1
        else:
            spared.append(place)
    for place in queue.unlike(spared):
        queue.add(place)
    return sorted(queue.places)


class _Queue:
    """Candidates that are queued, and what is too much like them."""

    def __init__(self, embeddings: Float32[np.ndarray, "title dim"], budget: int) -> None:
        self._embeddings, self._budget = embeddings, budget
        self.places: list[int] = []

    def unlike(self, places: Sequence[int]) -> Iterator[int]:
        """Yield those that are like none queued so far, until the budget is spent."""
        for start in range(0, len(places), BLOCK):
            block = np.array(places[start : start + BLOCK])
            before = len(self.places)
            alike = self._alike(block, self.places)
            among = self._embeddings[block] @ self._embeddings[block].T >= ALIKE
            row = {int(place): number for number, place in enumerate(block)}
            for number, place in enumerate(block.tolist()):
                if len(self.places) == self._budget:
                    return
                new = [row[other] for other in self.places[before:]]
                if not alike[number] and not among[number, new].any():
                    yield place

    def add(self, place: int) -> None:
        """Queue a candidate that `unlike` has just yielded."""
        self.places.append(place)

    def _alike(self, block: np.ndarray, queued: Sequence[int]) -> Bool[np.ndarray, " block"]:
        similarities = self._embeddings[block] @ self._embeddings[list(queued)].T
        return np.asarray((similarities >= ALIKE).any(axis=1))
