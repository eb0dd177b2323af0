"""One system ranks the documents for all queries; figures and files in the form of TREC.

A document scores as its closest element; ties stand in trec_eval's order
(`models/metrics/retrieval.py`). `run.trec` has a line `query Q0 document rank score tag` for each
kept document, `qrels.trec` a line `query 0 document 1` for each relevant one: from both files
ir-measures gives the table's figures.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from models.metrics.gold_ranks import pad_gold
from models.metrics.intervals import Interval, bootstrap_interval
from models.metrics.retrieval import RelevantPlaces, ranked
from models.reproducibility.atomic_write import atomic_write
from models.reproducibility.progress import Progress
from models.search.occupation_scores import best_scores
from models.search.search import TITLES_AT_ONCE, Similarities
from tasks.apps.benchmark.folder import Benchmark
from tasks.pipeline.report.names import aligned, share

if TYPE_CHECKING:
    from jaxtyping import Float32, Float64, Int64

METRICS: dict[str, tuple[str, Callable[[RelevantPlaces], np.ndarray]]] = {
    "mean_average_precision": ("MAP", RelevantPlaces.average_precision),
    "mrr": ("MRR", RelevantPlaces.reciprocal_rank),
    "success_at_1": ("success@1", lambda places: places.success_at_k(1)),
    "success_at_5": ("success@5", lambda places: places.success_at_k(5)),
    "success_at_10": ("success@10", lambda places: places.success_at_k(10)),
}
"""Name of the mean to its column in the table and the value per query."""
Figures = Mapping[str, Mapping[str, Interval]]
"""System to metric to the mean over all queries and its 95 % bootstrap interval."""


@dataclass(frozen=True)
class Ranked:
    """Queries in the benchmark's order."""

    values: dict[str, Float64[np.ndarray, " query"]]  # metric to a value per query
    documents: Int64[np.ndarray, "query depth"]  # places in the index's list, best first
    scores: Float32[np.ndarray, "query depth"]  # of these


def rank(system: str, similarities: Similarities, benchmark: Benchmark, depth: int) -> Ranked:
    """Rank the documents for each query.

    `similarities`: cleaned titles to how close they are to the titles of the benchmark's index;
    `depth`: documents kept of each query; what stands below counts as not found.

    Raises:
        ValueError: a similarity is NaN.
    """
    titles, qrels = [*benchmark.queries.values()], [*benchmark.qrels.values()]
    gold = pad_gold(benchmark.index.codes(qrels))
    print(f"{system}: {len(titles)} queries against {len(benchmark.index.titles)} titles")
    progress = Progress(f"{system}: queries", len(titles))
    blocks = []
    for start in range(0, len(titles), TITLES_AT_ONCE):
        block = slice(start, start + TITLES_AT_ONCE)
        scores = best_scores(similarities(titles[block]), benchmark.index.memberships)
        order = ranked(scores)
        places = RelevantPlaces.of(order, gold[block], depth)
        values = {name: metric(places) for name, (_, metric) in METRICS.items()}
        best = order[:, :depth]
        blocks.append((values, best, np.take_along_axis(scores, best, axis=1)))
        progress(start + TITLES_AT_ONCE)
    by_metric, documents, kept = zip(*blocks, strict=True)
    return Ranked(
        {name: np.concatenate([values[name] for values in by_metric]) for name in METRICS},
        np.concatenate(documents),
        np.concatenate(kept),
    )


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
