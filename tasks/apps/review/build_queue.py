"""The queue: candidates rescored by the registered model, in order and varied.

In: schema `CANDIDATES` and a model as a consumer loads it. Out: schema `QUEUE`, at most `budget`
rows, the one that is worth most first. The model answers again without a least confidence, so that
each title has alternatives: the run may have had one, or been answered by another model.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa

from models.reproducibility.progress import Progress
from tasks.apps.review.candidates import in_order
from tasks.apps.review.diversify import diversify
from tasks.apps.review.priority import priority, why_queued
from tasks.io.frames import Schema, check

QUEUE: Schema = {
    "raw_title": pl.String,
    "occupation_id": pl.String,
    "matched_title": pl.String,
    "model_version": pl.String,
    "confidence": pl.Float64,
    "rows": pl.UInt32,
    "why_queued": pl.String,
    "why_answered": pl.String,
    "distinguishing_words": pl.List(pl.String),
    "runner_up_words": pl.List(pl.String),
    "top_occupation_ids": pl.List(pl.String),
    "top_titles": pl.List(pl.String),
    "top_scores": pl.List(pl.Float64),
}
ALTERNATIVES = 5
AT_ONCE = 1024
EXPLAINED = 1000  # titles whose answers are explained: each takes one search a word
OF_THE_RUN = ("normalized", "raw_title", "rows", "hash", "earlier_occupation_id")


def build_queue(
    served: Any,  # noqa: ANN401  # mlflow has no types
    schema: pa.Schema,
    candidates: pl.DataFrame,
    labels: Mapping[str, str],
    budget: int,
) -> pl.DataFrame:
    """Choose the titles of the queue, and say of each one why.

    `candidates`: schema `CANDIDATES`.
    """
    of_run = candidates.select(*OF_THE_RUN, run_reason="reason")
    answered = answers(served, schema, candidates["raw_title"].to_list())
    titles = pl.concat([of_run, answered], how="horizontal")
    queue = chosen(titles, lambda some: served.embed(some["raw_title"].to_list()), budget)
    why = [why_queued(row, labels) for row in queue.iter_rows(named=True)]
    sentences = explanations(served, queue["raw_title"].to_list())
    queue = queue.with_columns(
        why_queued=pl.Series(why, dtype=pl.String),
        why_answered=pl.Series(sentences, dtype=pl.String),
    )
    return check(queue.select(list(QUEUE)), QUEUE, "the queue")


def chosen(
    titles: pl.DataFrame, embed: Callable[[pl.DataFrame], np.ndarray], budget: int
) -> pl.DataFrame:
    """Return the titles that are worth most, none nearly another, the best first.

    `titles`: columns of an answer, `normalized, rows, hash` and `earlier_occupation_id`; `embed`:
    rows of it to embeddings of unit norm.
    """
    ranked = in_order(titles.with_columns(priority=priority()).filter(pl.col("priority") > 0))
    return ranked[diversify(embed(ranked), ranked["occupation_id"].to_list(), budget)]


def answers(served: Any, schema: pa.Schema, titles: Sequence[str]) -> pl.DataFrame:  # noqa: ANN401
    """Return `ALTERNATIVES` answers to each raw title, in their order, with the model's columns."""
    progress = Progress("titles rescored:", len(titles), partial(print, flush=True))
    parts = [schema.empty_table()]
    for start in range(0, len(titles), AT_ONCE):
        frame = served.predict(None, titles[start : start + AT_ONCE], {"top_k": ALTERNATIVES})
        columns = [pa.Array.from_pandas(frame[field.name], type=field.type) for field in schema]
        parts.append(pa.Table.from_arrays(columns, schema=schema))
        progress(start)
    return pl.DataFrame(pa.concat_tables(parts))


def explanations(served: Any, titles: Sequence[str]) -> list[str | None]:  # noqa: ANN401
    """Explain the answers to the first `EXPLAINED` titles, a sentence each; the others get None."""
    first = titles[:EXPLAINED]
    progress = Progress("titles explained:", len(first), partial(print, flush=True))
    sentences: list[str | None] = []
    for number, title in enumerate(first):
        sentences.append(str(served.explain(title)["why"]))
        progress(number)
    return sentences + [None] * (len(titles) - len(first))
