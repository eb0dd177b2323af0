"""Queries ranked by one system: a value per query and metric, and the run.

One set of rules for every system and table (`docs/DESIGN.md`, "The rules of evaluation"): an
occupation scores by its aliases, ties count by expectation, any gold occupation is a hit.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from models.metrics import GoldRank, pad_gold, rank_gold, reciprocal_rank, success_at_k
from models.occupation_scores import best_scores, best_titles, soft_scores
from tasks.alias_index import AliasIndex, Similarities
from tasks.schemas import RUN, SCORES
from tasks.sections import EvaluateParams

if TYPE_CHECKING:
    from jaxtyping import Float32

BLOCK = 512
METRICS: dict[str, Callable[[GoldRank], np.ndarray]] = {
    "success_at_1": lambda rank: success_at_k(rank, 1),
    "success_at_5": lambda rank: success_at_k(rank, 5),
    "success_at_10": lambda rank: success_at_k(rank, 10),
    "reciprocal_rank": reciprocal_rank,
}


def rank_queries(
    system: str,
    similarities: Similarities,
    index: AliasIndex,
    queries: pl.DataFrame,
    params: EvaluateParams,
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Frames of schemas `SCORES` and `RUN`, in the order of the queries.

    A query whose gold occupations are all missing from the index counts as a miss of every metric.
    """
    scores, runs = [], []
    for block in queries.iter_slices(BLOCK):
        found = similarities(block["raw_title"].to_list())
        by_occupation = occupation_scores(found, index, params)
        scores.append(_scores(system, by_occupation, index, block))
        runs.append(_run(system, found, by_occupation, index, block, params.run_depth))
    if not scores:
        return pl.DataFrame(schema=dict(SCORES)), pl.DataFrame(schema=dict(RUN))
    return pl.concat(scores), pl.concat(runs)


def occupation_scores(
    found: Float32[np.ndarray, "query title"], index: AliasIndex, params: EvaluateParams
) -> Float32[np.ndarray, "query occupation"]:
    """Best alias or soft maximum, as `params` say."""
    if params.occupation_score == "best":
        return best_scores(found, index.memberships)
    return soft_scores(found, index.memberships, params.soft_temperature)


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


def _run(
    system: str,
    found: np.ndarray,
    by_occupation: np.ndarray,
    index: AliasIndex,
    block: pl.DataFrame,
    depth: int,
) -> pl.DataFrame:
    """The best `depth` occupations of each query; equal scores stand in the order of their ids."""
    depth = min(depth, by_occupation.shape[1])
    top = np.argsort(-by_occupation, axis=1, kind="stable")[:, :depth]
    query = np.repeat(np.arange(len(block)), depth)
    occupation = top.reshape(-1)
    title = best_titles(found, index.memberships, query, occupation)
    return pl.DataFrame(
        {
            "system": pl.repeat(system, len(query), eager=True),
            "test": block["test"].gather(query),
            "query_id": block["query_id"].gather(query),
            "rank": np.tile(np.arange(1, depth + 1, dtype=np.uint32), len(block)),
            "occupation_id": np.array(index.occupations, object)[occupation],
            "title": np.array(index.titles, object)[title],
            "score": by_occupation[query, occupation].astype(np.float32),
        },
        schema=dict(RUN),
    )
