"""Means of a benchmark's systems with 95 % bootstrap intervals, as a table and as plain values."""

from __future__ import annotations

from collections.abc import Mapping

from models.metrics.intervals import Interval, bootstrap_interval
from tasks.apps.benchmark.ranking import Ranked
from tasks.pipeline.report.aligned_table import aligned
from tasks.pipeline.report.names import share

HEADS = {
    "mean_average_precision": "MAP",
    "mrr": "MRR",
    "success_at_1": "success@1",
    "success_at_5": "success@5",
    "success_at_10": "success@10",
}
Figures = Mapping[str, Mapping[str, Interval]]
"""System to metric to the mean over all queries and its interval."""


def figures(systems: Mapping[str, Ranked], draws: int, seed: int) -> Figures:
    """Return the means; every system's intervals are of the same drawn queries."""
    return {
        system: {
            metric: bootstrap_interval(values, draws, seed)
            for metric, values in ranked.values.items()
        }
        for system, ranked in systems.items()
    }


def as_table(values: Figures, names: Mapping[str, str]) -> str:
    """Write a row a system: each mean with its interval in brackets."""
    rows = [
        [names.get(system, system), *(_cell(metrics[metric]) for metric in HEADS)]
        for system, metrics in values.items()
    ]
    return aligned(["system", *HEADS.values()], rows)


def as_values(values: Figures) -> dict[str, dict[str, dict[str, float]]]:
    """Return `{system: {metric: {value, low, high}}}`, unrounded."""
    return {
        system: {metric: vars(interval) for metric, interval in metrics.items()}
        for system, metrics in values.items()
    }


def _cell(interval: Interval) -> str:
    return f"{share(interval.value)} [{share(interval.low)}, {share(interval.high)}]"
