"""Every system on every test: values per query, the run, and the table with intervals.

In: `data/split/{aliases,queries}.parquet`, `data/typos/queries.parquet`, `data/train/K/model/`.
Out: `data/evaluate/K/{scores,run}.parquet`, `table.csv` (tidy, with slices) and `metrics.json`.
The index of every system holds the aliases of the split `train`.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import polars as pl

from models.intervals import bootstrap_interval
from models.seeding import child_seed
from models.titles import clean_title
from models.whole_file import whole_file
from tasks.command import run
from tasks.frames import Schema, read_frame, write_frame, write_json
from tasks.params import EvaluateParams, load_params
from tasks.ranking import rank_queries
from tasks.schemas import QUERIES, RUN, SCORES, SPLIT_ALIASES
from tasks.systems import AliasIndex, all_systems

METRICS = {
    "success_at_1": "success_at_1",
    "success_at_5": "success_at_5",
    "success_at_10": "success_at_10",
    "reciprocal_rank": "mrr",
}
TABLE: Schema = {
    "system": pl.String,
    "test": pl.String,
    "slice": pl.String,
    "metric": pl.String,
    "value": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "n": pl.Int64,
}
SIZES = ((1, "1"), (5, "2-5"), (15, "6-15"), (None, "16+"))
LENGTHS = ((15, "1-15"), (30, "16-30"), (None, "31+"))


def table(
    scores: pl.DataFrame, queries: pl.DataFrame, params: EvaluateParams, seed: int
) -> pl.DataFrame:
    """Means with 95 % bootstrap intervals: `system, test, slice, metric, value, low, high, n`.

    Args:
        scores: schema `SCORES`.
        queries: schema `QUERIES`; gives the slices by occupation size and title length.
        params: section `evaluate`.
        seed: the pipeline's seed.
    """
    sliced = scores.join(_slices(queries), on=["test", "query_id"], maintain_order="left")
    rows = []
    for (system, test, part), group in sliced.explode("slices").group_by(
        ["system", "test", "slices"], maintain_order=True
    ):
        for column, metric in METRICS.items():
            values = group[column].to_numpy()
            draw = child_seed(seed, "evaluate", str(test), str(part))
            interval = bootstrap_interval(values, params.bootstrap_draws, draw)
            rows.append(
                (
                    system,
                    test,
                    part,
                    metric,
                    interval.value,
                    interval.low,
                    interval.high,
                    len(group),
                )
            )
    frame = pl.DataFrame(rows, schema=dict(TABLE), orient="row")
    return frame.with_columns(pl.col("value", "low", "high").round(6))


def nested(frame: pl.DataFrame) -> dict[str, dict[str, dict[str, float]]]:
    """`{system: {test: {metric: value}}}` of the slice `all`, for `dvc metrics`."""
    result: dict[str, dict[str, dict[str, float]]] = {}
    rows = frame.filter(pl.col("slice") == "all").select("system", "test", "metric", "value")
    for system, test, metric, value in rows.iter_rows():
        result.setdefault(system, {}).setdefault(test, {})[metric] = value
    return result


def _slices(queries: pl.DataFrame) -> pl.DataFrame:
    """The slices of each query, `all` among them."""
    length = pl.Series("length", [len(clean_title(title)) for title in queries["raw_title"]])
    return queries.with_columns(length).select(
        "test",
        "query_id",
        slices=pl.concat_list(
            pl.lit("all"),
            _band("occupation_size", "size", SIZES),
            _band("length", "length", LENGTHS),
            pl.format("source:{}", "source"),
        ),
    )


def _band(column: str, name: str, bands: tuple[tuple[int | None, str], ...]) -> pl.Expr:
    expression = pl.lit(f"{name}:{bands[-1][1]}")
    for limit, label in reversed(bands[:-1]):
        expression = (
            pl.when(pl.col(column) <= limit).then(pl.lit(f"{name}:{label}")).otherwise(expression)
        )
    return expression


def main() -> None:
    """Run the stage on its files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stage", type=int, required=True)
    stage = parser.parse_args().stage
    params = load_params()
    folder = Path(f"data/evaluate/{stage}")
    aliases = read_frame(Path("data/split/aliases.parquet"), SPLIT_ALIASES)
    queries = pl.concat(
        read_frame(Path(f"data/{source}/queries.parquet"), QUERIES) for source in ("typos", "split")
    ).filter(pl.col("part") == "test")
    index = AliasIndex.of(aliases.filter(pl.col("split") == "train"))
    scores, runs = [], []
    for name, similarities in all_systems(
        Path(f"data/train/{stage}/model"), stage, index.titles
    ).items():
        print(f"{name}: {len(queries)} queries against {len(index.titles)} titles")
        values, run = rank_queries(name, similarities, index, queries, params.evaluate)
        scores.append(values)
        runs.append(run)
    write_frame(pl.concat(scores), folder / "scores.parquet", SCORES)
    write_frame(pl.concat(runs), folder / "run.parquet", RUN)
    figures = table(pl.concat(scores), queries, params.evaluate, params.seed)
    with whole_file(folder / "table.csv") as partial:
        figures.write_csv(partial)
    write_json(nested(figures), folder / "metrics.json")


if __name__ == "__main__":
    run(main)
