"""A served model that answers many titles at once, in processes that share what it has loaded.

Much of a title's time is Python, of which one process runs one thread at a time. So many
titles are answered by processes. Each is forked from this one after the model is loaded and has
answered once: it begins at once, and shares the memory of tables and weights. Where no process can
be forked safely, and for few titles, threads of this process answer.
"""

from __future__ import annotations

import ctypes
import gc
import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from threading import local
from typing import Any

import pyarrow as pa
from threadpoolctl import threadpool_limits

from models.serving.kernels import threads
from models.serving.search import BATCH

MMAP_THRESHOLD = -3  # an option of glibc's mallopt
LARGE = 1 << 23  # bytes; arrays of 4 MiB come and go more often
DEATH_SIGNAL = 1  # an option of Linux's prctl
WORKER = local()  # `served`: the model of a thread or process that answers


class Answering:
    """A served model as any consumer loads it, which answers beside this thread.

    It keeps the settings of the process: garbage, large blocks of memory, threads of products.
    `workers`: so many answer; None: one for each core. `many`: whether there are titles for all of
    them. A ValueError says that the folder's model answers no raw titles.
    """

    def __init__(self, folder: Path, workers: int | None = None, *, many: bool = True) -> None:
        gc.set_threshold(1 << 17)  # the model stays: looking through it for garbage took a tenth
        import mlflow

        from models.serving.pyfunc import UNKNOWN

        count = workers or threads()
        fork = many and count > 1 and sys.platform == "linux"
        os.environ["OMP_NUM_THREADS"] = "1" if fork else str(count)  # the model reads it
        mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # glibc's alone
        if mallopt:  # large arrays go back to the system, else each thread keeps what it freed
            mallopt(MMAP_THRESHOLD, LARGE)
        loaded = mlflow.pyfunc.load_model(str(folder), suppress_warnings=True)
        served = loaded.unwrap_python_model()
        if not hasattr(served, "answer"):
            advice = "no model of rolecall, or an earlier one; run `rolecall retrain`"
            raise ValueError(f"{folder}: {advice}")
        threadpool_limits(1, "blas")  # the products of one title, beside those of others
        self.schema: pa.Schema = served.answer([]).schema
        self._pool: Executor
        if fork:
            served.answer([UNKNOWN])
            gc.freeze()  # else looking for garbage would copy the memory that processes share
            self._pool = ProcessPoolExecutor(
                count, get_context("fork"), _begin_process, (served, os.getpid())
            )
            self._pool.submit(int).result()  # all begin now, before this process has other threads
        else:
            self._pool = ThreadPoolExecutor(count, initializer=_begin, initargs=(served,))

    def __call__(
        self, params: Mapping[str, Any], titles: Sequence[str | None]
    ) -> Callable[[], pa.Table]:
        """Begin to answer titles, null being one, too; what is returned waits for the answers.

        Batches are of equal size, and those of earlier calls come first. A BrokenProcessPool says
        that a process was ended from outside.
        """
        size = -(-len(titles) // -(-len(titles) // BATCH))
        parts = (titles[start : start + size] for start in range(0, len(titles), size))
        batches = [self._pool.submit(_answer, part, params) for part in parts]
        return lambda: pa.concat_tables(
            pa.ipc.open_stream(batch.result()).read_all() for batch in batches
        )

    def close(self) -> None:
        """Answer nothing more."""
        self._pool.shutdown(cancel_futures=True)
        gc.freeze()  # the end of the process looks for no garbage either


def _begin(served: Any) -> None:  # noqa: ANN401  # of the model's own code
    WORKER.served = served


def _begin_process(served: Any, parent: int) -> None:  # noqa: ANN401
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends its processes
    ctypes.CDLL(None).prctl(DEATH_SIGNAL, signal.SIGKILL)  # even if it is killed itself
    if os.getppid() != parent:
        os._exit(1)
    _begin(served)


def _answer(titles: Sequence[str | None], params: Mapping[str, Any]) -> pa.Buffer:
    """Return a table as Arrow's stream: pickle would take whole tables of names for a few rows."""
    table, sink = WORKER.served.answer(titles, params), pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return sink.getvalue()
