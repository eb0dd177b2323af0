"""A consumer that loads the model, and then asks one title at a time; nothing is compiled."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl

from benchmarks.results import Row

TEST = "single"
WARM, COUNTS = 50, 500
"""Titles before the first that is timed; titles that are timed."""
CONSUMER = """
import json, sys, time
import mlflow
began = time.perf_counter()
model = mlflow.pyfunc.load_model(sys.argv[1]).unwrap_python_model()
took = [time.perf_counter() - began]
for title in json.load(sys.stdin):
    began = time.perf_counter()
    model.normalizer.predict([title])
    took.append(time.perf_counter() - began)
print(json.dumps(took))
"""


def single_titles(system: str, model: Path, titles: pl.Series) -> Iterator[Row]:
    """Yield seconds of loading in a process of its own, and milliseconds of a warm title.

    The ends of the latter hold eight titles of ten.
    """
    chosen = json.dumps(titles[: WARM + COUNTS].to_list())
    command = [sys.executable, "-W", "ignore", "-c", CONSUMER, str(model)]
    done = subprocess.run(command, check=True, input=chosen, stdout=subprocess.PIPE, text=True)
    loading, *took = json.loads(done.stdout.strip().rpartition("\n")[2])
    yield Row(system, TEST, "load_seconds", loading, 1)
    each = 1000 * np.array(took[WARM:])
    low, middle, high = np.quantile(each, [0.1, 0.5, 0.9]).tolist()
    yield Row(system, TEST, "milliseconds", middle, len(each), low, high)
