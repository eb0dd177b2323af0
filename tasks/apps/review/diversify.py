"""Candidates to the queue: no near-duplicates, and no occupation takes all of the minutes.

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
    from jaxtyping import Float32

ALIKE = 0.9
LEAST, SHARE = 2, 20  # an occupation has a twentieth of the budget, two titles at least


def diversify(
    embeddings: Float32[np.ndarray, "title dim"], occupations: Sequence[str | None], budget: int
) -> list[int]:
    """Return the places of at most `budget` candidates, ascending.

    `embeddings`: of unit norm, the best candidate first; `occupations`: answered to each; None is
    one of them; `budget`: 1 or more.
    """
    limit = max(LEAST, budget // SHARE)
    queue: list[int] = []
    taken: Counter[str | None] = Counter()
    spared = []
    for place in _unlike(embeddings, range(len(embeddings)), queue, budget):
        if taken[occupations[place]] < limit:
            queue.append(place)
            taken[occupations[place]] += 1
        else:
            spared.append(place)
    for place in _unlike(embeddings, spared, queue, budget):
        queue.append(place)
    return sorted(queue)


def _unlike(
    embeddings: Float32[np.ndarray, "title dim"],
    places: Sequence[int],
    queue: list[int],
    budget: int,
) -> Iterator[int]:
    """Yield those that are like none in `queue`, which the caller adds to, up to the budget."""
    for place in places:
        if len(queue) == budget:
            return
        if (embeddings[queue] @ embeddings[place] < ALIKE).all():
            yield place
