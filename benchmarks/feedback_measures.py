"""What is asked of every variant of stage 4, and the figures of its answers.

The queries are those of one part of every test, and the corrected strings with their rewordings
(`benchmarks/fix_rate.py`). A figure is a row of `results/` without the columns that all rows of a
run share; a variant is compared with model 3 by the rules of stage 4 (`tasks/effects.py`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from benchmarks.feedback_variants import CONTROL
from benchmarks.fix_rate import (
    CORRECTED,
    REWORDED,
    corrected_queries,
    held_out_rates,
    reworded_queries,
    same_occupation_ids,
)
from benchmarks.results_file import Row
from benchmarks.variant_pairs import Material
from models.model_files import load_model
from tasks.alias_index import AliasIndex
from tasks.effects import effects, kept_up
from tasks.frames import read_frame
from tasks.measured import read_index
from tasks.params import AllParams
from tasks.queries import normalized, read_queries
from tasks.ranking import rank_queries
from tasks.schemas import EXTRA_WORDS_VARIANTS
from tasks.superfluous import learn
from tasks.systems import network
from tasks.tables import table

TEST_METRICS = {"success_at_1": "success_at_1", "reciprocal_rank": "mrr"}
STRING_METRICS = {"success_at_1": "fix_rate"}
CANDIDATE = "4"
"""What a variant is called where it is judged: by the rules of stage 4 (`tasks/effects.py`)."""


@dataclass(frozen=True)
class Asked:
    """Queries of one part and of the corrected strings, and what answers are measured with."""

    params: AllParams
    index: AliasIndex
    queries: pl.DataFrame
    same_occupations: set[str]


def read_asked(workspace: Path, params: AllParams, material: Material, part: str) -> Asked:
    """The tests of `part`, the corrected strings and their rewordings."""
    data = workspace / "data"
    queries = read_queries(part, data)
    mined = read_frame(data / "extra_words/variants.parquet", EXTRA_WORDS_VARIANTS).filter(
        (pl.col("kind") == "mined") & (pl.col("part") == "train")
    )
    corrected = corrected_queries(material.verdicts)
    reworded = reworded_queries(
        corrected,
        learn(mined["title"].to_list(), mined["variant"].to_list()),
        params.typos.test_share,
        normalized(material.strings["title"], material.verdicts["raw_title"]),
        params.seed,
    )
    same = same_occupation_ids(queries, corrected)
    return Asked(params, read_index(data), pl.concat([queries, corrected, reworded]), same)


def answers(system: str, model: Path, asked: Asked) -> pl.DataFrame:
    """Schema `SCORES` of the network in the folder `model`."""
    similarities = network(*load_model(model), asked.index.titles)
    params = asked.params.evaluate
    return rank_queries(system, similarities, asked.index, asked.queries, params)[0]


def figures(scores: pl.DataFrame, asked: Asked) -> Iterator[Row]:
    """success@1 and MRR of each test and source; fix rates of the corrected strings."""
    draws, seed = asked.params.evaluate.bootstrap_draws, asked.params.seed
    strings = pl.col("test").is_in([CORRECTED, REWORDED])
    several = asked.queries.group_by("test").agg(several=pl.col("source").n_unique() > 1)
    for chosen, metrics in ((~strings, TEST_METRICS), (strings, STRING_METRICS)):
        found = table(scores.filter(chosen), asked.queries, draws, seed, metrics)
        whole = pl.col("slice") == "all"
        by_source = pl.col("several") & pl.col("slice").str.starts_with("source:")
        kept = found.join(several, on="test", maintain_order="left").filter(whole | by_source)
        for line in kept.iter_rows(named=True):
            ends = {name: line[name] for name in ("value", "low", "high", "n")}
            yield {"test": _sliced(line), "metric": line["metric"], **ends}


def compared(before: pl.DataFrame, after: pl.DataFrame, asked: Asked) -> Iterator[Row]:
    """Gains over model 3, non-inferiority to it, fix rate and side effects on held-out inputs."""
    draws, seed = asked.params.table3.bootstrap_draws, asked.params.seed
    both = pl.concat(
        scores.with_columns(system=pl.lit(name), seed=pl.lit(0, pl.Int64))
        for name, scores in ((CONTROL, before), (CANDIDATE, after))
    )
    gains = effects(both, asked.queries, draws, seed)
    for line in gains.filter(pl.col("metric") == "success_at_1").iter_rows(named=True):
        ends = {"value": line["gain"], "low": line["low"], "high": line["high"], "n": line["n"]}
        yield {"test": _sliced(line), "metric": "gain_over_3", **ends}
    for line in kept_up(both, asked.queries, draws, seed).iter_rows(named=True):
        ends = {"value": float(line["passed"]), "low": None, "high": None, "n": line["n"]}
        yield {"test": _sliced(line), "metric": "non_inferior", **ends}
    for rate in held_out_rates(before, after, asked.same_occupations, draws, seed):
        ends = {"low": rate.interval.low, "high": rate.interval.high, "n": rate.n}
        yield {"test": rate.test, "metric": rate.metric, "value": rate.interval.value, **ends}


def _sliced(line: Row) -> str:
    return str(line["test"] if line["slice"] == "all" else f"{line['test']}/{line['slice']}")
