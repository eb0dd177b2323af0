"""A served model in processes of its own: titles in, their answers as Arrow out.

Each process loads the model as any consumer does, so the answers are those of its web port.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

if TYPE_CHECKING:
    from multiprocessing.pool import Pool

AT_ONCE = 4096  # titles that a process is handed
ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")

_served: Any = None


class Answering:
    """Processes that have loaded a model."""

    def __init__(self, pool: Pool, schema: pa.Schema) -> None:
        self._pool = pool
        self.schema = schema

    def __call__(
        self,
        params: Mapping[str, Any],
        titles: Sequence[str | None],
        report: Callable[[int], None] = lambda count: None,
    ) -> pa.Table:
        """Answer titles, in their order; the columns are those of the model's signature.

        `titles`: null is one, too.
        """
        lots = (titles[start : start + AT_ONCE] for start in range(0, len(titles), AT_ONCE))
        jobs = ((lot, dict(params), self.schema) for lot in lots)
        answers: list[pa.RecordBatch] = []
        for answer in self._pool.imap(_answers, jobs):
            answers.append(answer)
            report(len(answers) * AT_ONCE)
        return pa.Table.from_batches(answers, self.schema)


@contextmanager
def answering(folder: Path, processes: int) -> Iterator[Answering]:
    """Load a model in each of some one-thread processes; ValueError if it answers no raw titles."""
    schema = answer_schema(folder)
    before = {name: os.environ.get(name) for name in ONE_THREAD}
    os.environ.update(dict.fromkeys(ONE_THREAD, "1"))
    try:
        pool = get_context("spawn").Pool(processes, _load, [str(folder)])
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})
    with pool:
        yield Answering(pool, schema)


def answer_schema(folder: Path) -> pa.Schema:
    """Read the columns of an answer in the model's signature."""
    from mlflow.models import Model
    from mlflow.types.schema import Array, DataType

    types = {
        DataType.string: pa.string(),
        DataType.double: pa.float64(),
        DataType.boolean: pa.bool_(),
    }
    signature = Model.load(str(folder)).signature
    if signature is None or signature.inputs.input_names() != ["raw_title"]:
        raise ValueError(f"{folder}: no model that answers the column raw_title")
    return pa.schema(
        (
            column.name,
            pa.list_(types[column.type.dtype])
            if isinstance(column.type, Array)
            else types[column.type],
        )
        for column in signature.outputs
    )


def _load(folder: str) -> None:
    global _served  # one model a process
    import mlflow

    _served = mlflow.pyfunc.load_model(folder).unwrap_python_model()
    gc.freeze()  # the model stays: looking through it for garbage took a tenth of the time


def _answers(job: tuple[Sequence[str | None], dict[str, Any], pa.Schema]) -> pa.RecordBatch:
    titles, params, schema = job
    frame = _served.predict(None, titles, params)
    columns = [pa.Array.from_pandas(frame[field.name], type=field.type) for field in schema]
    return pa.RecordBatch.from_arrays(columns, schema=schema)
