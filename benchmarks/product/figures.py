"""Answers to figures: every mean with its number of titles and a 95 % bootstrap interval.

An answer is a list of occupations, best first. An abstention is an empty list and counts as wrong
in every figure; `abstained` counts it besides.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import polars as pl

from models.metrics.calibration_error import BINS, calibration_error
from models.metrics.intervals import TAIL, bootstrap_interval
from models.reproducibility.seeding import child_seed

DEPTH, CONFIDENT, ERROR_DRAWS = 10, 0.8, 200
Lists = Sequence[Sequence[str]]


class Figure(NamedTuple):
    """One figure; `low` and `high` are None where nothing was sampled."""

    system: str
    test: str
    metric: str
    value: float
    n: int
    low: float | None = None
    high: float | None = None


class Answers(NamedTuple):
    """At most `DEPTH` occupations a title, and how sure the first is; NaN without calibration."""

    occupations: Lists
    confidence: np.ndarray


class Draws(NamedTuple):
    """Resamples of a bootstrap; equal seeds draw equal titles for every system."""

    resamples: int
    seed: int

    def mean(self, system: str, test: str, metric: str, values: np.ndarray) -> Figure:
        """Return a mean with its interval."""
        seed = child_seed(self.seed, "benchmark", test)
        made = bootstrap_interval(values.astype(float), self.resamples, seed)
        return Figure(system, test, metric, made.value, len(values), made.low, made.high)


def places(gold: Lists, answers: Lists) -> np.ndarray:
    """Return the place of the first gold occupation in each list, from 1; 0 if it has none."""
    return np.array(
        [
            next((place for place, name in enumerate(own, 1) if name in right), 0)
            for right, own in zip(gold, answers, strict=True)
        ]
    )


def accuracy(
    system: str, queries: pl.DataFrame, answers: Answers, draws: Draws
) -> Iterator[Figure]:
    """Yield the figures of one system on every test of `queries`, answer by answer its rows."""
    place = places(queries["occupation_ids"].to_list(), answers.occupations)
    silent = np.array([not own for own in answers.occupations])
    for test in queries["test"].unique(maintain_order=True):
        rows = (queries["test"] == test).to_numpy()
        own, confidence = place[rows], answers.confidence[rows]
        values = {
            "success_at_1": own == 1,
            f"success_at_{DEPTH}": own > 0,
            f"mrr_at_{DEPTH}": np.where(own > 0, 1 / np.maximum(own, 1), 0),
            "abstained": silent[rows],
        }
        known, sure = ~np.isnan(confidence), confidence >= CONFIDENT
        if known.any():
            values["confident"] = sure
        if sure.any():
            values["confident_right"] = own[sure] == 1
        for metric, one in values.items():
            yield draws.mean(system, test, metric, one)
        if known.sum() >= BINS:
            yield error_figure(system, test, confidence[known], own[known] == 1, draws.seed)


def error_figure(
    system: str, test: str, confidence: np.ndarray, right: np.ndarray, seed: int
) -> Figure:
    """Return the expected calibration error of the answers.

    A resample differs by chance from the sample, so its error is larger than the sample's by some
    mean excess; both ends of the interval are moved by it.
    """
    value, count = calibration_error(confidence, right, seed), len(right)
    resamples = np.random.default_rng(seed).integers(count, size=(ERROR_DRAWS, count))
    drawn = [calibration_error(confidence[rows], right[rows], seed) for rows in resamples]
    low, high = np.quantile(drawn, [TAIL, 1 - TAIL]) - np.mean(drawn) + value
    return Figure(system, test, "calibration_error", value, count, float(low), float(high))
