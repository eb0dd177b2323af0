"""The queue: candidates with the answers of the model that is asked, in order and varied.

In: schema `CANDIDATES` and a registered model. Out: schema `QUEUE`, at most `budget` rows, the one
that is worth most first. What the model answers now counts, not what it answered in the run: there
it may have been asked for a least confidence, or have been another model.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa

from tasks.apps.review.candidates import in_order
from tasks.apps.review.diversify import diversify
from tasks.apps.review.priority import priority, why_queued
from tasks.apps.review.rescore import answers, explanations
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
OF_THE_RUN = ("normalized", "raw_title", "rows", "hash", "earlier_occupation_id")


def build_queue(
    served: Any,  # noqa: ANN401  # mlflow has no types
    schema: pa.Schema,
    candidates: pl.DataFrame,
    labels: Mapping[str, str],
    budget: int,
) -> pl.DataFrame:
    """Choose what is queued, and say of each title why.

    Args:
        served: the model.
        schema: of its answers.
        candidates: schema `CANDIDATES`.
        labels: of its occupations.
        budget: how many titles a person has time for.
    """
    told = candidates.select(*OF_THE_RUN, run_reason="reason")
    answered = answers(served, schema, candidates["raw_title"].to_list())
    titles = pl.concat([told, answered], how="horizontal")
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

    Args:
        titles: columns of an answer, `normalized, rows, hash` and `earlier_occupation_id`.
        embed: rows of it to embeddings of unit norm.
        budget: at most so many.
    """
    worth = titles.with_columns(priority=priority()).filter(pl.col("priority") > 0)
    ranked = in_order(worth)
    return ranked[diversify(embed(ranked), ranked["occupation_id"].to_list(), budget)]
