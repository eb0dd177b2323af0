"""Speeds, measured in turn.

Works that are compared run in turn within each repeat, so that a busy moment of the machine meets
all of them. A figure is the median of the repeats, its ends the lowest and the highest.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from benchmarks.results import Row


class Work(NamedTuple):
    """Something to time: `run` returns the amount, which is divided by the seconds."""

    system: str
    test: str
    metric: str
    run: Callable[[], float]


def alternate(works: Sequence[Work], repeats: int) -> list[Row]:
    """Run all `works` in turn, once to warm up and then `repeats` times; `n` is the repeats."""
    speeds: list[list[float]] = [[] for _ in works]
    for repeat in range(repeats + 1):
        for work, own in zip(works, speeds, strict=True):
            began = time.perf_counter()
            amount = work.run()
            speed = amount / (time.perf_counter() - began)
            if repeat:
                own.append(speed)
                print(f"{work.test}, {work.system}: {speed:,.1f} {work.metric}", flush=True)
    return [median(*work[:3], own) for work, own in zip(works, speeds, strict=True)]


def median(system: str, test: str, metric: str, values: Sequence[float] | np.ndarray) -> Row:
    """Return the median of timings, with the lowest and the highest."""
    low, middle, high = np.quantile(values, [0, 0.5, 1]).tolist()
    return Row(system, test, metric, middle, len(values), low, high)
