"""One system ranks the documents for all queries: a value per query and metric, and the run.

A document scores as its closest element; ties stand in trec_eval's order
(`models/metrics/retrieval.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from models.metrics.gold_ranks import pad_gold
from models.metrics.retrieval import RelevantPlaces, ranked
from models.reproducibility.progress import Progress
from models.search.occupation_scores import best_scores
from models.search.search import TITLES_AT_ONCE, Similarities
from tasks.apps.benchmark.folder import Benchmark

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
