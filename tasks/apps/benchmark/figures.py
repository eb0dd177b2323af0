"""Results of a benchmark: means with 95 % bootstrap intervals, and files in the form of TREC.

`run.trec` has a line `query Q0 document rank score tag` for each kept document, `qrels.trec` a line
`query 0 document 1` for each relevant one: from both files ir-measures gives the table's figures.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from models.metrics.intervals import Interval, bootstrap_interval
from models.reproducibility.atomic_write import atomic_write
from tasks.apps.benchmark.folder import Benchmark
from tasks.apps.benchmark.ranking import METRICS, Ranked
from tasks.pipeline.report.names import aligned, share

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
        [names.get(system, system), *(_cell(metrics[metric]) for metric in METRICS)]
        for system, metrics in values.items()
    ]
    return aligned(["system", *(head for head, _ in METRICS.values())], rows)


def as_values(values: Figures) -> dict[str, dict[str, dict[str, float]]]:
    """Return `{system: {metric: {value, low, high}}}`, unrounded."""
    return {
        system: {metric: vars(interval) for metric, interval in metrics.items()}
        for system, metrics in values.items()
    }


def _cell(interval: Interval) -> str:
    return f"{share(interval.value)} [{share(interval.low)}, {share(interval.high)}]"


def write_run(benchmark: Benchmark, ranked: Ranked, folder: Path) -> None:
    """Write `run.trec`, whole or not at all; nine digits tell any two scores apart."""
    documents = benchmark.index.occupations
    with atomic_write(folder / "run.trec") as partial, partial.open("w", encoding="utf-8") as file:
        for query, places, scores in zip(
            benchmark.queries, ranked.documents.tolist(), ranked.scores.tolist(), strict=True
        ):
            file.writelines(
                f"{query} Q0 {documents[place]} {rank} {score:.9g} rolecall\n"
                for rank, (place, score) in enumerate(zip(places, scores, strict=True), start=1)
            )


def write_qrels(benchmark: Benchmark, folder: Path) -> None:
    """Write `qrels.trec`: what counted as relevant, concepts where these were ranked."""
    with (
        atomic_write(folder / "qrels.trec") as partial,
        partial.open("w", encoding="utf-8") as file,
    ):
        for query, documents in benchmark.qrels.items():
            file.writelines(f"{query} 0 {document} 1\n" for document in documents)
