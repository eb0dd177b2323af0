"""The queue: candidates rescored by the registered model, in order and varied.

In: schema `CANDIDATES` and a registered model. Out: schema `QUEUE`, at most `budget`
rows, the one that is worth most first. The model answers again without a least confidence, so that
each title has alternatives: the run may have had one, or been answered by another model.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np
import polars as pl

from models.normalizer.answers.columns import Answer
from models.normalizer.answers.explanation import explain
from models.normalizer.normalizer import Normalizer
from models.reproducibility.progress import Progress
from models.text.titles import clean_title
from tasks.apps.review.answered_run import ANSWER
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
ANSWERED: Schema = {name: k for name, k in {**ANSWER, **QUEUE}.items() if name in Answer._fields}
ALTERNATIVES = 5
AT_ONCE = 1024
EXPLAINED = 1000  # titles whose answers are explained: each takes one search a word
OF_THE_RUN = ("normalized", "raw_title", "rows", "hash", "earlier_occupation_id")


def build_queue(
    normalizer: Normalizer,
    candidates: pl.DataFrame,
    labels: Mapping[str, str],
    budget: int,
) -> pl.DataFrame:
    """Choose the titles of the queue, and say of each one why.

    `candidates`: schema `CANDIDATES`.
    """
    of_run = candidates.select(*OF_THE_RUN, run_reason="reason")
    answered = answers(normalizer, candidates["raw_title"].to_list())
    titles = pl.concat([of_run, answered], how="horizontal")
    queue = chosen(
        titles, lambda some: normalizer.embed([*map(clean_title, some["raw_title"])]), budget
    )
    why = [why_queued(row, labels) for row in queue.iter_rows(named=True)]
    sentences = explanations(normalizer, queue["raw_title"].to_list())
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


def answers(normalizer: Normalizer, titles: Sequence[str]) -> pl.DataFrame:
    """Return the answer to each raw title, with `ALTERNATIVES`: schema `ANSWERED`."""
    progress = Progress("titles rescored:", len(titles), partial(print, flush=True))
    parts = [pl.DataFrame(schema=dict(ANSWERED))]
    for start in range(0, len(titles), AT_ONCE):
        answered = normalizer.predict(titles[start : start + AT_ONCE], top_k=ALTERNATIVES)
        parts.append(pl.DataFrame([one._asdict() for one in answered], schema=dict(ANSWERED)))
        progress(start + AT_ONCE)
    return pl.concat(parts)


def explanations(normalizer: Normalizer, titles: Sequence[str]) -> list[str | None]:
    """Explain the answers to the first `EXPLAINED` titles, a sentence each; the others get None."""
    first = titles[:EXPLAINED]
    progress = Progress("titles explained:", len(first), partial(print, flush=True))
    sentences: list[str | None] = []
    for number, title in enumerate(first, start=1):
        sentences.append(explain(normalizer, title).why)
        progress(number)
    return sentences + [None] * (len(titles) - len(first))
