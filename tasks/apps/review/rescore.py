"""Candidates asked once more, without a least confidence, so that each has alternatives.

In: titles and the registered model as a consumer loads it. Out: a frame with the model's columns
(`tasks/apps/bulk/answering.py` reads them from its signature), a row a title. Explanations are for
what is queued alone, and for the first of that.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa

from models.reproducibility.progress import Progress

ALTERNATIVES = 5
AT_ONCE = 1024
EXPLAINED = 1000
"""Titles whose answers are explained: each takes as many searches as it has words."""
say = partial(print, flush=True)


def loaded(folder: Path) -> Any:  # noqa: ANN401  # mlflow has no types
    """Load the model that MLflow wrote into a folder; `tasks/release/model_package/serving.py` is its class."""
    import mlflow

    return mlflow.pyfunc.load_model(str(folder)).unwrap_python_model()


def answers(served: Any, schema: pa.Schema, titles: Sequence[str]) -> pl.DataFrame:  # noqa: ANN401
    """Ask for `ALTERNATIVES` answers to each title, in their order.

    Args:
        served: what `loaded` returned.
        schema: of its answers, from its signature.
        titles: raw.
    """
    progress = Progress("titles asked again:", len(titles), say)
    parts = [schema.empty_table()]
    for start in range(0, len(titles), AT_ONCE):
        frame = served.predict(None, titles[start : start + AT_ONCE], {"top_k": ALTERNATIVES})
        columns = [pa.Array.from_pandas(frame[field.name], type=field.type) for field in schema]
        parts.append(pa.Table.from_arrays(columns, schema=schema))
        progress(start)
    return pl.DataFrame(pa.concat_tables(parts))


def explanations(served: Any, titles: Sequence[str]) -> list[str | None]:  # noqa: ANN401
    """Say in a sentence why a title was answered so, of the first `EXPLAINED`; then None."""
    progress = Progress("titles explained:", min(len(titles), EXPLAINED), say)
    said: list[str | None] = []
    for number, title in enumerate(titles[:EXPLAINED]):
        said.append(str(served.explain(title)["why"]))
        progress(number)
    return said + [None] * (len(titles) - len(said))
