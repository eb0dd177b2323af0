"""Systems asked with every test query: their values, runs and table, as stages write them.

The stages `lexical` and `evaluate` differ in their systems only; all search the same index, the
taxonomy's titles of the split `train`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import polars as pl

from models.ranking.search import Search
from tasks.evaluation.metric_tables import nested, table, write_table
from tasks.evaluation.params import EvaluateParams
from tasks.evaluation.ranking import rank_queries
from tasks.io.frames import write_frame, write_json
from tasks.io.schemas import RUN, SCORES, TABLE


class Measured(NamedTuple):
    """Frames of schemas `SCORES`, `RUN` and `TABLE`, system by system."""

    scores: pl.DataFrame
    run: pl.DataFrame
    table: pl.DataFrame


def measure(
    systems: Mapping[str, Search],
    queries: pl.DataFrame,
    params: EvaluateParams,
    seed: int,
) -> Measured:
    """Rank all queries with each system.

    Args:
        systems: by name, in the order of the table; all answer with one index.
        queries: schema `QUERIES`.
        params: section `evaluate`.
        seed: the pipeline's seed.
    """
    scores, runs = [], []
    for name, search in systems.items():
        titles = len(search.index.titles)
        print(f"{name}: {len(queries)} queries against {titles} titles", flush=True)
        values, run = rank_queries(name, search, queries, params.run_depth)
        scores.append(values)
        runs.append(run)
    values = pl.concat(scores)
    return Measured(values, pl.concat(runs), table(values, queries, params.bootstrap_draws, seed))


def write_measured(measured: Measured, folder: Path) -> None:
    """Write `scores.parquet`, `run.parquet`, `table.csv` and `metrics.json`."""
    write_frame(measured.scores, folder / "scores.parquet", SCORES)
    write_frame(measured.run, folder / "run.parquet", RUN)
    write_table(measured.table, folder / "table.csv", TABLE)
    write_json(nested(measured.table), folder / "metrics.json")
