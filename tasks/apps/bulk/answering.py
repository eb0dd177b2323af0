"""A served model as any consumer loads it: titles in, their answers as Arrow out."""

from __future__ import annotations

import ctypes
import gc
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pyarrow as pa
from threadpoolctl import threadpool_limits

from models.search.compiling import threads as usual_threads
from models.search.two_stage_search import LOT

MMAP_THRESHOLD = -3  # an option of glibc's mallopt
LARGE = 1 << 23  # bytes; arrays of 4 MiB come and go more often


class Answering:
    """A model that has been loaded, and answers in threads of this process.

    `threads`: so many; None: one for each core.

    Raises:
        ValueError: the folder's model answers no raw titles.
    """

    def __init__(self, folder: Path, threads: int | None = None) -> None:
        gc.set_threshold(1 << 17)  # the model stays: looking through it for garbage took a tenth
        import mlflow

        _return_large_blocks()
        if threads:
            os.environ["OMP_NUM_THREADS"] = str(threads)  # `models/search/compiling.py` reads it
        self._pool = ThreadPoolExecutor(usual_threads())
        loaded = mlflow.pyfunc.load_model(str(folder), suppress_warnings=True)
        served = loaded.unwrap_python_model()
        if not hasattr(served, "answer"):
            raise ValueError(
                f"{folder}: no model of rolecall, or an earlier one; run `rolecall retrain`"
            )
        threadpool_limits(1, "blas")  # the products of one title, beside those of others
        self._answer = served.answer
        self.schema: pa.Schema = self._answer([]).schema

    def __call__(
        self, params: Mapping[str, Any], titles: Sequence[str | None]
    ) -> Callable[[], pa.Table]:
        """Begin to answer titles, null being one, too; what is returned waits for the answers.

        Threads answer lots of equal size, those of earlier calls first.
        """
        size = -(-len(titles) // -(-len(titles) // LOT))
        lots = [
            self._pool.submit(self._answer, titles[at : at + size], params)
            for at in range(0, len(titles), size)
        ]
        return lambda: pa.concat_tables([lot.result() for lot in lots])

    def close(self) -> None:
        """Answer nothing more."""
        self._pool.shutdown(cancel_futures=True)
        gc.freeze()  # the end of the process looks for no garbage either


def _return_large_blocks() -> None:
    """Let large arrays go back to the system: the heap of each thread would keep what it freed."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # other libraries than glibc have none
    if mallopt:
        mallopt(MMAP_THRESHOLD, LARGE)
