"""The paper's Table 3 on our data: every system on every test, effects, and the paper beside.

In: `data/lexical/{scores.parquet,table.csv}`, `data/evaluate/K/SEED/{scores.parquet,table.csv}` of
every stage number K and all `seeds`, all tests' queries. Out, in `data/table3/`: `table.csv` (each
seed), `summary.csv` (mean and spread over seeds), `effects.csv` and `kept_up.csv`
(`tasks/effects.py`), `table3.md` for people, `metrics.json`. `untrained` is that of stage 0.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple, get_args

import polars as pl

from models.whole_file import write_bytes
from tasks.command import run
from tasks.effects import EFFECTS, KEPT_UP, METRICS, SCORES_BY_SEED, effects, kept_up
from tasks.frames import Schema, check, read_frame, write_json
from tasks.paper import ACCURACY
from tasks.params import load_params
from tasks.queries import read_queries
from tasks.schemas import SCORES, TABLE
from tasks.sections import Stage
from tasks.table3_page import as_markdown
from tasks.tables import nested, read_table, table, write_table

FOLDER = Path("data/table3")
STAGES: tuple[str, ...] = get_args(Stage)
TABLE_BY_SEED: Schema = {**TABLE, "seed": pl.Int64}
SUMMARY: Schema = {
    "system": pl.String,
    "test": pl.String,
    "slice": pl.String,
    "metric": pl.String,
    "mean": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "n": pl.Int64,
    "seeds": pl.Int64,
    "smallest": pl.Float64,
    "largest": pl.Float64,
    "deviation": pl.Float64,
    "paper": pl.Float64,
}
ROW = ["system", "test", "slice", "metric"]


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


def table3(found: Evaluations, queries: pl.DataFrame, draws: int, seed: int) -> Table3:
    """All of the stage's frames.

    Args:
        found: what the systems did.
        queries: schema `QUERIES`, those of part `test`.
        draws: of the bootstrap.
        seed: the pipeline's seed.
    """
    shown = check(found.table, TABLE_BY_SEED, "table").filter(
        pl.col("metric").is_in(list(METRICS.values()))
    )
    scores = check(found.scores, SCORES_BY_SEED, "scores")
    return Table3(
        shown,
        summary(Evaluations(shown, scores), queries, draws, seed),
        effects(scores, queries, draws, seed),
        kept_up(scores, queries, draws, seed),
    )


def summary(found: Evaluations, queries: pl.DataFrame, draws: int, seed: int) -> pl.DataFrame:
    """Mean over seeds with its interval over queries, and spread over seeds: schema `SUMMARY`.

    `low` and `high` are the 95 % bootstrap interval of each query's mean over seeds; they hold the
    chance of the queries, not that of training. `smallest`, `largest` and `deviation` (of the
    sample of seeds, n − 1) are null with one seed. `paper` is the paper's success@1.
    """
    keys = ["system", "test", "query_id"]
    means = found.scores.group_by(keys, maintain_order=True).agg(pl.col(*METRICS).mean())
    values = table(means, queries, draws, seed, METRICS).rename({"value": "mean"})
    several = pl.len() > 1
    spread = found.table.group_by(ROW).agg(
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
    """The lexical systems, `untrained` of stage 0, and the model of each stage and seed.

    Raises:
        FileNotFoundError: a stage before has not run.
    """
    parts = [_read(data / "lexical", None, ["ngram", "tfidf"])]
    for stage in STAGES:
        wanted = ["untrained", stage] if stage == "0" else [stage]
        parts += [_read(data / f"evaluate/{stage}/{seed}", seed, wanted) for seed in seeds]
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


def main() -> None:
    """Run the stage on its files."""
    params = load_params()
    found = read_evaluations(Path("data"), params.seeds)
    made = table3(found, read_queries("test"), params.table3.bootstrap_draws, params.seed)
    write_table(made.table, FOLDER / "table.csv", TABLE_BY_SEED)
    write_table(made.summary, FOLDER / "summary.csv", SUMMARY)
    write_table(made.effects, FOLDER / "effects.csv", EFFECTS)
    write_table(made.kept_up, FOLDER / "kept_up.csv", KEPT_UP)
    page = as_markdown(made.summary, made.effects, made.kept_up)
    write_bytes(page.encode(), FOLDER / "table3.md")
    write_json(nested(made.summary.rename({"mean": "value"})), FOLDER / "metrics.json")
    print(page)


if __name__ == "__main__":
    run(main)
