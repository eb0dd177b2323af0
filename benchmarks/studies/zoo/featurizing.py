"""How fast raw titles become ids, by kind of unit, and what bounds it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np

from benchmarks.timing import Work
from models.text.featurizer import Featurizer
from models.text.spans import segment_hashes, spans
from models.text.titles import clean_title
from models.text.units import UnitSettings

UNITS = {
    "characters": UnitSettings("character", 100),
    "ngrams": UnitSettings("ngram", 100, (2, 3, 4)),
    "hashed_ngrams": UnitSettings("ngram", 100, (2, 3, 4), buckets=2**17),
    "words": UnitSettings("word", 40),
}
WRITTEN = 5 * 8  # bytes of a unit: start, end, title, hash, id
COPIED = 2**26  # bytes; more than caches hold


def featurizing(training: Sequence[str], titles: Sequence[str]) -> Iterator[Work]:
    """Yield titles a second of the whole, of each step alone, and of its memory."""
    for name, units in UNITS.items():
        clean = cleaned(titles)
        known, hashes = np.unique(_hashes(training, units)), _hashes(clean, units)
        copied = np.ones(COPIED, np.uint8)
        copies = COPIED / max(1, WRITTEN * len(hashes))  # of what `titles` need
        steps: dict[str, tuple[Callable[[], object], float]] = {
            "featurizing": (partial(_whole, Featurizer.fit(training, (units,)), titles), 1),
            "featurizing/cleaning": (partial(cleaned, titles), 1),
            "featurizing/hashing": (partial(_hashes, clean, units), 1),
            "featurizing/lookup": (partial(_looked_up, hashes, known, units), 1),
            "featurizing/memory": (partial(np.copyto, np.empty_like(copied), copied), copies),
        }
        for test, (step, times) in steps.items():
            yield Work(name, test, "titles_per_second", _counting(step, times * len(titles)))


def cleaned(titles: Sequence[str]) -> list[str]:
    """Clean every title."""
    return [clean_title(title) for title in titles]


def _whole(featurizer: Featurizer, titles: Sequence[str]) -> object:
    return featurizer(cleaned(titles))


def _hashes(clean: Sequence[str], units: UnitSettings) -> np.ndarray:
    stretches = spans(clean, units)
    return segment_hashes(stretches.points, stretches.start, stretches.end)


def _looked_up(hashes: np.ndarray, known: np.ndarray, units: UnitSettings) -> object:
    return hashes % np.uint64(units.buckets) if units.buckets else np.searchsorted(known, hashes)


def _counting(step: Callable[[], object], titles: float) -> Callable[[], float]:
    def run() -> float:
        step()
        return titles

    return run
