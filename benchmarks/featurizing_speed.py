"""How fast raw titles become ids, by kind of unit, and what bounds it.

The work is done in steps, each of which is also timed alone: cleaning (a Python call a title),
hashing (finding the units and some passes over arrays of them), and looking up (a binary search of
each hash among the vocabulary's; hashed units take a remainder). The slowest one bounds the whole.
The physical limits: of the look-ups, memory that is read out of order, one step of a search behind
the other; of the rest, memory in order, which `memory` shows: the arrays of units copied once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.network_speed import Work
from models.featurizer import Featurizer
from models.text_spans import segment_hashes, spans
from models.titles import clean_title
from models.units import UnitSettings

if TYPE_CHECKING:
    from jaxtyping import UInt64

UNITS = {
    "characters": UnitSettings("character", 100),
    "ngrams": UnitSettings("ngram", 100, (2, 3, 4)),
    "hashed_ngrams": UnitSettings("ngram", 100, (2, 3, 4), buckets=2**17),
    "words": UnitSettings("word", 40),
}
WRITTEN = 5 * 8  # bytes of a unit: start, end, title, hash, id
COPIED = 2**26  # bytes; more than caches hold


def featurizing(training: Sequence[str], titles: Sequence[str]) -> Iterator[Work]:
    """Titles a second of the whole, of each step alone, and of its memory.

    Args:
        training: titles that the vocabularies are made of.
        titles: raw, what is measured; one at least.
    """
    for name, units in UNITS.items():
        cleaned = _cleaned(titles)
        known, hashes = np.unique(_hashes(_cleaned(training), units)), _hashes(cleaned, units)
        copied = np.ones(COPIED, np.uint8)
        copies = COPIED / max(1, WRITTEN * len(hashes))  # of what `titles` need
        steps: dict[str, tuple[Callable[[], object], float]] = {
            "featurizing": (partial(Featurizer.fit(training, (units,)), titles), 1),
            "featurizing/cleaning": (partial(_cleaned, titles), 1),
            "featurizing/hashing": (partial(_hashes, cleaned, units), 1),
            "featurizing/lookup": (partial(_looked_up, hashes, known, units), 1),
            "featurizing/memory": (partial(np.copyto, np.empty_like(copied), copied), copies),
        }
        for test, (step, times) in steps.items():
            yield Work(name, test, "titles_per_second", _counting(step, times * len(titles)))


def _cleaned(titles: Sequence[str]) -> list[str]:
    return [clean_title(title) for title in titles]


def _hashes(cleaned: Sequence[str], units: UnitSettings) -> UInt64[np.ndarray, " unit"]:
    found = spans(cleaned, units)
    return segment_hashes(found.points, found.start, found.end)


def _looked_up(
    hashes: UInt64[np.ndarray, " unit"], known: UInt64[np.ndarray, " unit"], units: UnitSettings
) -> object:
    return hashes % np.uint64(units.buckets) if units.buckets else np.searchsorted(known, hashes)


def _counting(step: Callable[[], object], titles: float) -> Callable[[], float]:
    def run() -> float:
        step()
        return titles

    return run
