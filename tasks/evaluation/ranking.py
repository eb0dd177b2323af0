"""Queries ranked by one system: a value per query and metric, and the run.

One set of rules for every system and table (`docs/DESIGN.md`, "The rules of evaluation"): an
occupation scores by its aliases, ties count by expectation, any gold occupation is a hit.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl

from models.metrics.gold_ranks import GoldRank, pad_gold, rank_gold, reciprocal_rank, success_at_k
from models.ranking.index import AliasIndex
from models.ranking.search import Hits, Search
from models.reproducibility.progress import Progress
from tasks.io.schemas import RUN, SCORES

METRICS: dict[str, Callable[[GoldRank], np.ndarray]] = {
    "success_at_1": lambda rank: success_at_k(rank, 1),
    "success_at_5": lambda rank: success_at_k(rank, 5),
    "success_at_10": lambda rank: success_at_k(rank, 10),
    "reciprocal_rank": reciprocal_rank,
}


def rank_queries(
    system: str, search: Search, queries: pl.DataFrame, depth: int
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return frames of schemas `SCORES` and `RUN`, in the order of the queries.

    A query whose gold occupations are all missing from the index counts as a miss of every metric.

    Args:
        system: its name in both.
        search: the system.
        queries: schema `QUERIES`.
        depth: ranks kept in the run.
    """
    scores = [pl.DataFrame(schema=dict(SCORES))]
    runs = [pl.DataFrame(schema=dict(RUN))]
    progress = Progress(f"{system}: queries", len(queries))
    for place, hits in search.blocks(queries["cleaned"].to_list(), depth):
        block = queries[place]
        scores.append(_scores(system, hits.scores, search.index, block))
        runs.append(_run(system, hits, search.index, block))
        progress(place.stop)
    return pl.concat(scores), pl.concat(runs)


def _scores(
    system: str, by_occupation: np.ndarray, index: AliasIndex, block: pl.DataFrame
) -> pl.DataFrame:
    gold = index.codes(block["occupation_ids"].to_list())
    reachable = np.array([bool(codes) for codes in gold])
    rank = rank_gold(by_occupation[reachable], pad_gold([codes for codes in gold if codes]))
    values = {name: np.zeros(len(block)) for name in METRICS}
    for name, metric in METRICS.items():
        values[name][reachable] = metric(rank)
    columns = [pl.lit(system).alias("system"), *(pl.Series(n, v) for n, v in values.items())]
    return block.select("test", "query_id").with_columns(columns).select(list(SCORES))


def _run(system: str, hits: Hits, index: AliasIndex, block: pl.DataFrame) -> pl.DataFrame:
    """Return the best occupations of each query; equal scores stand in the order of their ids."""
    count, depth = hits.occupations.shape
    query, occupation = np.repeat(np.arange(count), depth), hits.occupations.reshape(-1)
    return pl.DataFrame(
        {
            "system": pl.repeat(system, len(query), eager=True),
            "test": block["test"].gather(query),
            "query_id": block["query_id"].gather(query),
            "rank": np.tile(np.arange(1, depth + 1, dtype=np.uint32), count),
            "occupation_id": np.array(index.occupations, object)[occupation],
            "title": np.array(index.titles, object)[hits.titles.reshape(-1)],
            "score": hits.scores[query, occupation].astype(np.float32),
        },
        schema=dict(RUN),
    )
