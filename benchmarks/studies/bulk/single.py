"""A consumer that loads the model, and then asks one title at a time."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from benchmarks.results import Row

TEST = "single"
WARM = 50
"""Titles asked before the first that is timed."""
LOADING = """
import sys, time, mlflow
began = time.perf_counter()
mlflow.pyfunc.load_model(sys.argv[1])
print(time.perf_counter() - began)
"""


def single_titles(system: str, model: Path, titles: Sequence[str]) -> Iterator[Row]:
    """Yield seconds of loading in a process of its own, and milliseconds of a warm title.

    The bracket of the latter holds eight titles of ten.
    """
    import mlflow
    import pandas as pd

    command = [sys.executable, "-W", "ignore", "-c", LOADING, str(model)]
    seconds = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    yield Row(system, TEST, "load_seconds", float(seconds), 1)
    loaded = mlflow.pyfunc.load_model(str(model))
    took = []
    for title in titles:
        began = time.perf_counter()
        loaded.predict(pd.DataFrame({"raw_title": [title]}))
        took.append(1000 * (time.perf_counter() - began))
    low, middle, high = np.quantile(took[WARM:], [0.1, 0.5, 0.9]).tolist()
    yield Row(system, TEST, "milliseconds", middle, len(took) - WARM, low, high)
