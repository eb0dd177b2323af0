"""Figures of answers: every mean with its number of titles and a 95 % bootstrap interval.

An answer is a list of occupations, best first. An abstention is an empty list and counts as
incorrect in every figure. Equal seeds draw equal titles for every system.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import polars as pl

from benchmarks.results import Row
from models.metrics.calibration import BINS, calibration_error
from models.metrics.intervals import TAIL, bootstrap_interval
from models.reproducibility import child_seed

DEPTH, CONFIDENT, ERROR_DRAWS = 100, 0.8, 200
CUT = 10  # ranks that `success_at_10` and `mrr_at_10` count; `mrr_at_100` counts all `DEPTH`
Lists = Sequence[Sequence[str]]


class RankedAnswers(NamedTuple):
    """At most `DEPTH` occupations a title, and the confidence of the first, or NaN."""

    occupations: Lists
    confidence: np.ndarray


def first_ranks(gold: Lists, answers: Lists) -> np.ndarray:
    """Return the rank of the first gold occupation in each list, from 1; 0 if it has none."""
    both = zip(gold, answers, strict=True)
    return np.array(
        [next((rank for rank, name in enumerate(own, 1) if name in ids), 0) for ids, own in both]
    )


def rank_metrics(rank: np.ndarray) -> dict[str, np.ndarray]:
    """Return a number of each title for every metric of `first_ranks`."""
    near = (rank > 0) & (rank <= CUT)
    inverse = np.where(rank > 0, 1 / np.maximum(rank, 1), 0)
    return {
        "success_at_1": rank == 1,
        f"success_at_{CUT}": near,
        f"mrr_at_{CUT}": np.where(near, inverse, 0),
        f"mrr_at_{DEPTH}": inverse,
    }


def accuracy(
    system: str, queries: pl.DataFrame, answers: RankedAnswers, draws: int, seed: int
) -> Iterator[Row]:
    """Yield the figures of one system on every test of `queries`, whose rows `answers` follow."""
    rank = first_ranks(queries["occupation_ids"].to_list(), answers.occupations)
    abstained = np.array([not own for own in answers.occupations])
    for test in queries["test"].unique(maintain_order=True):
        rows = (queries["test"] == test).to_numpy()
        own, confidence = rank[rows], answers.confidence[rows]
        values = {**rank_metrics(own), "abstained": abstained[rows]}
        calibrated, confident = ~np.isnan(confidence), confidence >= CONFIDENT
        if calibrated.any():
            values["confident"] = confident
        if confident.any():
            values["confident_correct"] = own[confident] == 1
        for metric, numbers in values.items():
            draw = child_seed(seed, "benchmark", test)
            mean = bootstrap_interval(numbers.astype(float), draws, draw)
            yield Row(system, test, metric, mean.value, len(numbers), mean.low, mean.high)
        if calibrated.sum() >= BINS:
            yield error_figure(system, test, confidence[calibrated], own[calibrated] == 1, seed)


def error_figure(
    system: str, test: str, confidence: np.ndarray, correct: np.ndarray, seed: int
) -> Row:
    """Return the expected calibration error; the ends are moved by the resamples' mean excess."""
    value, count = calibration_error(confidence, correct, seed), len(correct)
    resamples = np.random.default_rng(seed).integers(count, size=(ERROR_DRAWS, count))
    drawn = [calibration_error(confidence[rows], correct[rows], seed) for rows in resamples]
    low, high = np.quantile(drawn, [TAIL, 1 - TAIL]) - np.mean(drawn) + value
    return Row(system, test, "calibration_error", value, count, float(low), float(high))
