"""Table 3 in frames: every system on every test, over seeds, the paper's figures beside.

`untrained` is that of the mix `base`.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import polars as pl

from tasks.evaluation.metric_tables import read_table, table
from tasks.io.frames import Schema, check, read_frame
from tasks.io.mixes import BASE, MIXES
from tasks.io.schemas import SCORES, TABLE
from tasks.papers.table3.effects import METRICS, SCORES_BY_SEED, effects, kept_up
from tasks.papers.table3.paper import ACCURACY

TABLE_BY_SEED: Schema = {**TABLE, "seed": pl.Int64}
ROW = ["system", "test", "slice", "metric"]
SUMMARY: Schema = {
    **dict.fromkeys(ROW, pl.String),
    **dict.fromkeys(("mean", "low", "high"), pl.Float64),
    **dict.fromkeys(("n", "seeds"), pl.Int64),
    **dict.fromkeys(("smallest", "largest", "deviation", "paper"), pl.Float64),
}


class Evaluations(NamedTuple):
    """Tables and values per query of all systems: schemas `TABLE_BY_SEED`, `SCORES_BY_SEED`."""

    table: pl.DataFrame
    scores: pl.DataFrame


class Table3(NamedTuple):
    """Frames of schemas `TABLE_BY_SEED`, `SUMMARY`, `EFFECTS` and `KEPT_UP`."""

    table: pl.DataFrame
    summary: pl.DataFrame
    effects: pl.DataFrame
    kept_up: pl.DataFrame


def table3(evaluations: Evaluations, queries: pl.DataFrame, draws: int, seed: int) -> Table3:
    """Return all of the stage's frames.

    `queries`: schema `QUERIES`, those of part `test`.
    """
    by_seed = check(evaluations.table, TABLE_BY_SEED, "table").filter(
        pl.col("metric").is_in(list(METRICS.values()))
    )
    scores = check(evaluations.scores, SCORES_BY_SEED, "scores")
    return Table3(
        by_seed,
        summary(Evaluations(by_seed, scores), queries, draws, seed),
        effects(scores, queries, draws, seed),
        kept_up(scores, queries, draws, seed),
    )


def summary(evaluations: Evaluations, queries: pl.DataFrame, draws: int, seed: int) -> pl.DataFrame:
    """Mean over seeds with its interval over queries, and spread over seeds: schema `SUMMARY`.

    `low` and `high` are the 95 % bootstrap interval of each query's mean over seeds; they hold the
    chance of the queries, not that of training. `smallest`, `largest` and `deviation` (of the
    sample of seeds, n − 1) are null with one seed. `paper` is the paper's success@1.
    """
    keys = ["system", "test", "query_id"]
    means = evaluations.scores.group_by(keys, maintain_order=True).agg(pl.col(*METRICS).mean())
    values = table(means, queries, draws, seed, METRICS).rename({"value": "mean"})
    several = pl.len() > 1
    spread = evaluations.table.group_by(ROW).agg(
        seeds=pl.len().cast(pl.Int64),
        smallest=pl.when(several).then(pl.col("value").min()),
        largest=pl.when(several).then(pl.col("value").max()),
        deviation=pl.when(several).then(pl.col("value").std().round(6)),
    )
    paper = pl.DataFrame(
        [(*key, "all", "success_at_1", value) for key, value in ACCURACY.items()],
        schema={**dict.fromkeys(ROW, pl.String), "paper": pl.Float64},
        orient="row",
    )
    joined = values.join(spread, on=ROW, how="left", maintain_order="left")
    return joined.join(paper, on=ROW, how="left", maintain_order="left").select(list(SUMMARY))


def read_evaluations(data: Path, seeds: list[int]) -> Evaluations:
    """Read the lexical systems, `untrained` of the mix `base`, and each mix and seed.

    Raises:
        FileNotFoundError: a stage before has not run.
    """
    parts = [_read(data / "lexical", None, ["ngram", "tfidf"])]
    for mix in MIXES:
        systems = ["untrained", mix] if mix == BASE else [mix]
        parts += [_read(data / f"evaluate/{mix}/{seed}", seed, systems) for seed in seeds]
    tables, scores = zip(*parts, strict=True)
    return Evaluations(pl.concat(tables), pl.concat(scores))


def _read(folder: Path, seed: int | None, systems: list[str]) -> Evaluations:
    column = pl.lit(seed, pl.Int64).alias("seed")
    frames = (
        read_table(folder / "table.csv", TABLE),
        read_frame(folder / "scores.parquet", SCORES),
    )
    mine = pl.col("system").is_in(systems)
    return Evaluations(*(frame.filter(mine).with_columns(column) for frame in frames))
