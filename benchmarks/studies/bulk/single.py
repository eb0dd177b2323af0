"""A consumer that asks one title at a time, in a process that has loaded the model before."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from benchmarks.results import Row

TEST = "single"
WARM = 50
"""Titles asked before the first that is timed."""


def single_titles(system: str, model: Path, titles: Sequence[str]) -> Iterator[Row]:
    """Yield seconds of loading, MLflow imported before, and milliseconds of a warm title.

    The bracket of the latter holds eight titles of ten.
    """
    import mlflow
    import pandas as pd

    began = time.perf_counter()
    loaded = mlflow.pyfunc.load_model(str(model))
    yield Row(system, TEST, "load_seconds", time.perf_counter() - began, 1)
    took = []
    for title in titles:
        began = time.perf_counter()
        loaded.predict(pd.DataFrame({"raw_title": [title]}))
        took.append(1000 * (time.perf_counter() - began))
    low, middle, high = np.quantile(took[WARM:], [0.1, 0.5, 0.9]).tolist()
    yield Row(system, TEST, "milliseconds", middle, len(took) - WARM, low, high)
