"""A served model as any consumer loads it: titles in, their answers as Arrow out."""

from __future__ import annotations

import ctypes
import gc
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
from threadpoolctl import threadpool_limits

MMAP_THRESHOLD = -3  # an option of glibc's mallopt
LARGE = 1 << 23  # bytes; arrays of 4 MiB come and go more often


class Answering:
    """A model that has been loaded, and answers in threads of this process.

    `threads`: so many; None: one for each core.

    Raises:
        ValueError: the folder's model answers no raw titles.
    """

    def __init__(self, folder: Path, threads: int | None = None) -> None:
        import mlflow

        _return_large_blocks()
        if threads:
            os.environ["OMP_NUM_THREADS"] = str(threads)  # `models/search/compiling.py` reads it
        loaded = mlflow.pyfunc.load_model(str(folder), suppress_warnings=True)
        served = loaded.unwrap_python_model()
        if not hasattr(served, "answer"):
            raise ValueError(
                f"{folder}: no model of rolecall, or an earlier one; run `rolecall retrain`"
            )
        threadpool_limits(1, "blas")  # the products of one title, beside those of others
        self._answer = served.answer
        self.schema: pa.Schema = self._answer([]).schema
        gc.freeze()  # the model stays: looking through it for garbage took a tenth of the time

    def __call__(self, params: Mapping[str, Any], titles: Sequence[str | None]) -> pa.Table:
        """Answer titles, in their order; null is one, too."""
        return self._answer(titles, params)


def _return_large_blocks() -> None:
    """Let large arrays go back to the system: the heap of each thread would keep what it freed."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # other libraries than glibc have none
    if mallopt:
        mallopt(MMAP_THRESHOLD, LARGE)
