"""The queue: titles that help most, those of random rows and disputed ones, with alternatives.

In: schema `CANDIDATES` and a registered model. Out: schema `QUEUE`, at most `budget` rows, every
fifth of which is drawn at random, and another fifth disputed if there are such. Whoever stops early
has judged some of each. The second alternative of a disputed title is the other model's answer. The
model answers again without a least confidence, so that each title has alternatives: the run may
have had one, or been answered by another model. So `served` says whether the run answered, empty if
it answered otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
import polars as pl

from models.normalizer.answers.columns import Answer
from models.normalizer.answers.explanation import explain
from models.normalizer.normalizer import Normalizer
from models.reproducibility.progress import Progress
from models.text.titles import clean_title
from tasks.apps.review.answered_run import ANSWER
from tasks.apps.review.candidates import AT_RANDOM
from tasks.apps.review.priority import UNLIKE, why_queued
from tasks.apps.review.title_coverage import Coverage
from tasks.io.frames import Schema, check
from tasks.pipeline.feedback.feedback_rows.cells import ABSTAINED, ANSWERED, DISPUTED, RANDOM

QUEUE: Schema = {
    "raw_title": pl.String,
    "occupation_id": pl.String,
    "matched_title": pl.String,
    "model_version": pl.String,
    "confidence": pl.Float64,
    "rows": pl.UInt32,
    "chosen_by": pl.String,
    "served": pl.String,
    "why_queued": pl.String,
    "why_answered": pl.String,
    "distinguishing_words": pl.List(pl.String),
    "runner_up_words": pl.List(pl.String),
    "top_occupation_ids": pl.List(pl.String),
    "top_titles": pl.List(pl.String),
    "top_scores": pl.List(pl.Float64),
}
OF_THE_MODEL: Schema = {
    name: k for name, k in {**ANSWER, **QUEUE}.items() if name in Answer._fields
}
ALTERNATIVES = 5
AT_ONCE = 1024
EXPLAINED = 1000  # titles whose answers are explained: each takes one search a word
OF_THE_RUN = (
    "raw_title",
    "rows",
    "chosen_by",
    "gain",
    "earlier_occupation_id",
    "other_occupation_id",
)
TURNS = {RANDOM: AT_RANDOM - 1, DISPUTED: 2}
"""Places among every `AT_RANDOM` of the queue."""


def build_queue(
    normalizer: Normalizer,
    candidates: pl.DataFrame,
    labels: Mapping[str, str],
    budget: int,
) -> pl.DataFrame:
    """Choose the titles of the queue, and say of each one why.

    `candidates`: schema `CANDIDATES`.
    """
    embeddings = embedded(normalizer, candidates["raw_title"].to_list())
    queue = chosen(candidates, embeddings, normalizer.rule.temperature, budget)
    of_run = queue.select(
        *OF_THE_RUN,
        run_reason="reason",
        run_abstained="abstained",
        run_occupation_id="occupation_id",
    )
    answered = answers(normalizer, of_run["raw_title"].to_list())
    queue = with_both_answers(pl.concat([of_run, answered], how="horizontal"), labels)
    why = [why_queued(row, labels) for row in queue.iter_rows(named=True)]
    sentences = explanations(normalizer, queue["raw_title"].to_list())
    queue = queue.with_columns(
        why_queued=pl.Series(why, dtype=pl.String),
        why_answered=pl.Series(sentences, dtype=pl.String),
        served=pl.when("run_abstained")
        .then(pl.lit(ABSTAINED))
        .when(pl.col("run_occupation_id") == pl.col("occupation_id"))
        .then(pl.lit(ANSWERED)),
    )
    return check(queue.select(list(QUEUE)), QUEUE, "the queue")


def chosen(
    candidates: pl.DataFrame, embeddings: np.ndarray, temperature: float, budget: int
) -> pl.DataFrame:
    """Return the titles of the queue in its order, and what each adds (`gain`).

    `candidates`: as `pooled` returns them, in its order; `embeddings`: theirs, of unit norm;
    `temperature`: of the scores.
    """
    fixed = np.concatenate(
        [
            AT_RANDOM * np.arange(len(candidates.filter(chosen_by=way))) + place
            for way, place in TURNS.items()
        ]
    )
    known = len(fixed)
    others = candidates[known:].select(pl.col("score").fill_null(UNLIKE), "priority")
    scores, weights = (column.to_numpy().astype(np.float32) for column in others)
    coverage = Coverage(embeddings[known:], scores, weights, temperature)
    places, gains = coverage(embeddings[:known], budget - known)
    rows = np.concatenate([np.arange(known), known + places])
    gain = np.concatenate([np.full(known, np.nan, np.float32), gains])
    free = np.setdiff1d(np.arange(AT_RANDOM * known + len(places)), fixed)[: len(places)]
    order = np.argsort(np.concatenate([fixed, free]))
    return candidates[rows[order]].with_columns(gain=pl.Series(gain[order]))


def with_both_answers(queue: pl.DataFrame, labels: Mapping[str, str]) -> pl.DataFrame:
    """Make the other model's answer to a disputed title its second alternative.

    If it is none of the champion's, its title is the label, and it has no score. The first stays
    where it is: an earlier champion, which answered the run, may give the same answer.
    """
    columns = ("top_occupation_ids", "top_titles", "top_scores")
    rows = []
    for other, *tops in queue.select("other_occupation_id", *columns).iter_rows():
        alternatives = [*zip(*tops, strict=True)]
        if other in labels and other not in tops[0][:1]:
            own = [one for one in alternatives if one[0] == other]
            rest = [one for one in alternatives if one[0] != other]
            second = own or [(other, labels[other], None)]
            alternatives = [*rest[:1], *second, *rest[1:]][:ALTERNATIVES]
        rows.append([[*values] for values in zip(*alternatives, strict=True)] or [[], [], []])
    schema = {name: QUEUE[name] for name in columns}
    return queue.with_columns(pl.DataFrame(rows, schema, orient="row"))


def embedded(normalizer: Normalizer, titles: Sequence[str]) -> np.ndarray:
    """Embed raw titles [title, dim] to unit norm."""
    progress = Progress("titles embedded:", len(titles), partial(print, flush=True))
    parts = []
    for start in range(0, max(len(titles), 1), AT_ONCE):
        parts.append(normalizer.embed([*map(clean_title, titles[start : start + AT_ONCE])]))
        progress(start + AT_ONCE)
    return np.concatenate(parts)


def answers(normalizer: Normalizer, titles: Sequence[str]) -> pl.DataFrame:
    """Return the answer to each raw title, with `ALTERNATIVES`: schema `OF_THE_MODEL`."""
    progress = Progress("titles answered:", len(titles), partial(print, flush=True))
    parts = [pl.DataFrame(schema=dict(OF_THE_MODEL))]
    for start in range(0, len(titles), AT_ONCE):
        answered = normalizer.predict(titles[start : start + AT_ONCE], top_k=ALTERNATIVES)
        parts.append(pl.DataFrame([one._asdict() for one in answered], schema=dict(OF_THE_MODEL)))
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
