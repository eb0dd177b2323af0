"""Queries ranked by some systems: a value per query and metric, the run, and the tables.

An occupation scores by its aliases, ties count by expectation, any gold occupation is a hit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl

from models.metrics.retrieval import GoldRank, pad_gold, rank_gold, reciprocal_rank, success_at_k
from models.reproducibility import Progress
from models.serving.index import AliasIndex
from models.serving.search import Hits, Search
from tasks.evaluation.metric_tables import nested, table, write_table
from tasks.evaluation.systems import EvaluateParams
from tasks.io.files import write_json
from tasks.io.frames import write_frame
from tasks.io.schemas import RUN, SCORES, TABLE

METRICS: dict[str, Callable[[GoldRank], np.ndarray]] = {
    **{f"success_at_{k}": partial(success_at_k, k=k) for k in (1, 5, 10)},
    "reciprocal_rank": reciprocal_rank,
}


def rank_queries(
    system: str, search: Search, queries: pl.DataFrame, depth: int
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return frames of schemas `SCORES` and `RUN`, in the order of the queries (schema `QUERIES`).

    A query whose gold occupations are all missing from the index is a miss of every metric.
    """
    scores, runs = [pl.DataFrame(schema=dict(SCORES))], [pl.DataFrame(schema=dict(RUN))]
    progress = Progress(f"{system}: queries", len(queries))
    for rows, hits in search.blocks(queries["cleaned"].to_list(), depth):
        scores.append(_scores(system, hits.scores, search.index, queries[rows]))
        runs.append(_run(system, hits, search.index, queries[rows]))
        progress(rows.stop)
    return pl.concat(scores), pl.concat(runs)


def _scores(
    system: str, by_occupation: np.ndarray, index: AliasIndex, block: pl.DataFrame
) -> pl.DataFrame:
    gold = index.gold_positions(block["occupation_ids"].to_list())
    reachable = np.array([bool(codes) for codes in gold])
    rank = rank_gold(by_occupation[reachable], pad_gold([codes for codes in gold if codes]))
    values = {name: np.zeros(len(block)) for name in METRICS}
    for name, metric in METRICS.items():
        values[name][reachable] = metric(rank)
    keys = block.select("test", "query_id", system=pl.lit(system))
    return keys.with_columns(pl.DataFrame(values)).select(list(SCORES))


def _run(system: str, hits: Hits, index: AliasIndex, block: pl.DataFrame) -> pl.DataFrame:
    """Return the best occupations of each query; equal scores stand in the order of their ids."""
    count, depth = hits.occupations.shape
    query, occupation = np.repeat(np.arange(count), depth), hits.occupations.reshape(-1)
    values = {
        "system": pl.repeat(system, len(query), eager=True),
        "test": block["test"].gather(query),
        "query_id": block["query_id"].gather(query),
        "rank": np.tile(np.arange(1, depth + 1, dtype=np.uint32), count),
        "occupation_id": np.array(index.occupations, object)[occupation],
        "title": np.array(index.titles, object)[hits.titles.reshape(-1)],
        "score": hits.scores[query, occupation].astype(np.float32),
    }
    return pl.DataFrame(values, schema=dict(RUN))


def measure(
    systems: Mapping[str, Search], queries: pl.DataFrame, params: EvaluateParams, seed: int
) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Rank all queries (schema `QUERIES`) with each system: schemas `SCORES`, `RUN` and `TABLE`."""
    ranked = []
    for name, search in systems.items():
        titles = len(search.index.titles)
        print(f"{name}: {len(queries)} queries against {titles} titles", flush=True)
        ranked.append(rank_queries(name, search, queries, params.run_depth))
    scores, runs = map(pl.concat, zip(*ranked, strict=True))
    return scores, runs, table(scores, queries, params.bootstrap_draws, seed)


def write_measured(
    scores: pl.DataFrame, run: pl.DataFrame, means: pl.DataFrame, folder: Path
) -> None:
    """Write `scores.parquet`, `run.parquet`, `table.csv` and `metrics.json`."""
    write_frame(scores, folder / "scores.parquet", SCORES)
    write_frame(run, folder / "run.parquet", RUN)
    write_table(means, folder / "table.csv", TABLE)
    write_json(nested(means), folder / "metrics.json")
