"""The paper's Table 3 on our data: every system on every test, effects, and the paper beside.

In: `data/lexical/{scores.parquet,table.csv}`, `data/evaluate/K/SEED/{scores.parquet,table.csv}` of
every mix K and all `seeds`, all tests' queries; `untrained` is that of the mix `base`. Out, in
`data/table3/`: `table.csv` (each seed), `summary.csv` (mean and spread over seeds), `effects.csv`
and `kept_up.csv` (`tasks/papers/table3/effects.py`), `table3.md` for people, `metrics.json`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, ClassVar

import polars as pl
from pydantic import Field

from models.reproducibility import write_bytes
from tasks.evaluation.metric_tables import nested, read_table, table, write_table
from tasks.io.command import run
from tasks.io.files import write_json
from tasks.io.frames import Schema, read_frame
from tasks.io.mixes import BASE, MIXES, read_queries
from tasks.io.schemas import SCORES, TABLE
from tasks.io.section import Section, load, load_run
from tasks.papers.table3.effects import EFFECTS, KEPT_UP, METRICS, PAPER_ACCURACY, effects, kept_up
from tasks.papers.table3.page import as_markdown

FOLDER = Path("data/table3")
TABLE_BY_SEED: Schema = {**TABLE, "seed": pl.Int64}
ROW = ["system", "test", "slice", "metric"]
SUMMARY: Schema = {
    **dict.fromkeys(ROW, pl.String),
    **dict.fromkeys(("mean", "low", "high"), pl.Float64),
    **dict.fromkeys(("n", "seeds"), pl.Int64),
    **dict.fromkeys(("smallest", "largest", "deviation", "paper"), pl.Float64),
}


class Table3Params(Section):
    """Section `table3`: of the intervals of gains; Holm over three tests needs some hundred."""

    NAME: ClassVar[str] = "table3"
    bootstrap_draws: Annotated[int, Field(ge=200)]


def summary(
    tables: pl.DataFrame, scores: pl.DataFrame, queries: pl.DataFrame, draws: int, seed: int
) -> pl.DataFrame:
    """Mean over seeds with its interval over queries, and spread over seeds: schema `SUMMARY`.

    `low` and `high` are the 95 % bootstrap interval of each query's mean over seeds; they hold the
    chance of the queries, not that of training. `smallest`, `largest` and `deviation` (of the
    sample of seeds, n − 1) are null with one seed. `paper` is the paper's success@1.

    `tables`: schema `TABLE_BY_SEED`; `scores`: schema `SCORES_BY_SEED`; `queries`: schema
    `QUERIES`, those of part `test`.
    """
    keys = ["system", "test", "query_id"]
    means = scores.group_by(keys, maintain_order=True).agg(pl.col(*METRICS).mean())
    values = table(means, queries, draws, seed, METRICS).rename({"value": "mean"})
    several = pl.len() > 1
    spread = tables.group_by(ROW).agg(
        seeds=pl.len().cast(pl.Int64),
        smallest=pl.when(several).then(pl.col("value").min()),
        largest=pl.when(several).then(pl.col("value").max()),
        deviation=pl.when(several).then(pl.col("value").std().round(6)),
    )
    paper = pl.DataFrame(
        [(*key, "all", "success_at_1", value) for key, value in PAPER_ACCURACY.items()],
        schema={**dict.fromkeys(ROW, pl.String), "paper": pl.Float64},
        orient="row",
    )
    joined = values.join(spread, on=ROW, how="left", maintain_order="left")
    return joined.join(paper, on=ROW, how="left", maintain_order="left").select(list(SUMMARY))


def read_evaluations(data: Path, seeds: list[int]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Read the lexical systems, `untrained` of the mix `base`, and each mix and seed.

    Returns the measures of `METRICS` (schema `TABLE_BY_SEED`) and the values per query
    (`SCORES_BY_SEED`).

    Raises:
        FileNotFoundError: a stage before has not run.
    """
    sources: list[tuple[Path, int | None, list[str]]] = [
        (data / "lexical", None, ["ngram", "tfidf"])
    ]
    for mix in MIXES:
        systems = ["untrained", mix] if mix == BASE else [mix]
        sources += [(data / f"evaluate/{mix}/{seed}", seed, systems) for seed in seeds]
    tables, scores = [], []
    for folder, seed, systems in sources:
        trained_with = pl.lit(seed, pl.Int64).alias("seed")
        measures = read_table(folder / "table.csv", TABLE).with_columns(trained_with)
        tables.append(measures.filter(pl.col("system").is_in(systems)))
        values = read_frame(folder / "scores.parquet", SCORES).with_columns(trained_with)
        scores.append(values.filter(pl.col("system").is_in(systems)))
    reported = pl.col("metric").is_in(list(METRICS.values()))
    return pl.concat(tables).filter(reported), pl.concat(scores)


def main() -> None:
    """Run the stage on its files."""
    chosen, draws = load_run(), load(Table3Params).bootstrap_draws
    tables, scores = read_evaluations(Path("data"), chosen.seeds)
    queries = read_queries("test")
    means = summary(tables, scores, queries, draws, chosen.seed)
    gains = effects(scores, queries, draws, chosen.seed)
    keeping_up = kept_up(scores, queries, draws, chosen.seed)
    write_table(tables, FOLDER / "table.csv", TABLE_BY_SEED)
    write_table(means, FOLDER / "summary.csv", SUMMARY)
    write_table(gains, FOLDER / "effects.csv", EFFECTS)
    write_table(keeping_up, FOLDER / "kept_up.csv", KEPT_UP)
    page = as_markdown(means, gains, keeping_up)
    write_bytes(page.encode(), FOLDER / "table3.md")
    write_json(nested(means.rename({"mean": "value"})), FOLDER / "metrics.json")
    print(page)


if __name__ == "__main__":
    run(main)
