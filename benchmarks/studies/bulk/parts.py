"""The parts of an answer in bulk, one after the other on one thread, beside the machine's floor."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import polars as pl
from threadpoolctl import threadpool_limits

from benchmarks.results import Row
from benchmarks.timing import Work, alternate
from models.normalizer.normalizer import Normalizer
from models.search.two_stage_search import LOT

SPEED = "titles_per_second"
REPEATS = 5
WIDE = 1024
"""Rows and columns of the floor's matrices of numbers."""
COPIED = 1 << 28
"""Bytes that the floor copies: more than a processor's cache holds."""


def parts(system: str, served: Normalizer, titles: pl.Series) -> Iterator[Row]:
    """Yield titles a second of each part and of all, and what the machine does at most.

    The floor is `multiply`, 10⁹ products of floats a second in one matrix product, and `copy`,
    10⁹ bytes a second from memory to memory.
    """
    lot = titles[:LOT].to_list()
    served.predict(lot)  # compiled, and what all read made once
    checked = served.validator(lot)
    read = checked.readable
    search = served.two_stage_search or served.search
    steps: dict[str, Callable[[], object]] = {
        "validate": lambda: served.validator(lot),
        "embed": lambda: served.embed(read),
        "embed_and_search": lambda: search.hits(read, served.top_k),
        "predict": lambda: served.predict(lot),
    }
    with threadpool_limits(1):
        works = [
            Work(system, f"part/{name}", SPEED, _times(len(lot), step))
            for name, step in steps.items()
        ]
        yield from alternate([*works, *_floor()], REPEATS)


def _floor() -> list[Work]:
    table = np.ones((WIDE, WIDE), np.float32)
    source, target = np.ones((2, COPIED), np.uint8)
    multiply = _times(WIDE**3 / 1e9, lambda: table @ table)
    copy = _times(COPIED / 1e9, lambda: np.copyto(target, source))
    return [
        Work("machine", "floor", "billion_products_per_second", multiply),
        Work("machine", "floor", "gigabytes_per_second", copy),
    ]


def _times(amount: float, step: Callable[[], object]) -> Callable[[], float]:
    """Return a step that says how much it did."""

    def run() -> float:
        step()
        return amount

    return run
