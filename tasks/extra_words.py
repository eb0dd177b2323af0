"""Titles with superfluous words around them, and the Extra Words test (stage 3's source and test).

In: `data/split/{aliases,inputs,queries}.parquet`, and of typos and synonyms the `queries` and
`variants`. Out: `data/extra_words/{variants,queries}.parquet`. Mined from the inputs of the split
parts `train` and `unlabelled` (`mined_inputs.py`) and held out by shares; besides, training titles
padded with the words that the mined training part has around its titles (`superfluous.py`).
Neculoiu et al. 2016, section 4.2, point 3.

What normalizes to a title of the taxonomy, or to a query or a variant of an earlier stage, is left
out and counted; of padded titles also what equals a mined input.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

from models.seeding import generator
from models.titles import clean_title
from tasks.command import run
from tasks.frames import read_frame, write_frame, write_json
from tasks.mined_inputs import mined_inputs
from tasks.padded_titles import padded_titles
from tasks.params import load_params
from tasks.queries import normalized
from tasks.schemas import (
    EXTRA_WORDS_VARIANTS,
    PARTS,
    QUERIES,
    SPLIT_ALIASES,
    SPLIT_INPUTS,
    SYNONYM_VARIANTS,
    VARIANTS,
)
from tasks.sections import ExtraWordsParams
from tasks.superfluous import learn

FOLDER = Path("data/extra_words")
MINED_FROM = ("train", "unlabelled")


class ExtraWords(NamedTuple):
    """Schemas `EXTRA_WORDS_VARIANTS` and `QUERIES`, and the figures of the stage."""

    variants: pl.DataFrame
    queries: pl.DataFrame
    metrics: dict[str, dict[str, object]]


def extra_words(
    aliases: pl.DataFrame,
    inputs: pl.DataFrame,
    queries: pl.DataFrame,
    variants: pl.DataFrame,
    params: ExtraWordsParams,
    seed: int,
) -> ExtraWords:
    """Mine the inputs, share them out, and pad the training titles.

    Args:
        aliases: schema `SPLIT_ALIASES`.
        inputs: schema `SPLIT_INPUTS`.
        queries: schema `QUERIES`, of all earlier stages.
        variants: schema `VARIANTS`, of all earlier stages.
        params: section `extra_words`.
        seed: the pipeline's seed.
    """
    titles = _titles(aliases)
    taken = {
        "is_a_title": normalized(aliases["title"]),
        "is_an_earlier_query": normalized(queries["raw_title"]),
        "is_an_earlier_variant": normalized(variants["variant"]),
    }
    looked_at = inputs.filter(pl.col("split").is_in(MINED_FROM))
    found = mined_inputs(looked_at, titles, taken)
    mined = found.inputs.with_columns(
        kind=pl.lit("mined"), part=_parts(len(found.inputs), params, seed), source=_slice()
    )
    seen = mined.filter(pl.col("part") == "train")
    learned = learn(seen["title"].to_list(), seen["variant"].to_list())
    padded = padded_titles(
        titles["title"].to_list(),
        learned,
        taken | {"is_a_mined_input": normalized(mined["variant"])},
        params.padded,
        generator(seed, "extra_words", "padded"),
    )
    metrics: dict[str, dict[str, object]] = {
        "mined": {**found.counts, **_counted(mined)},
        "learned": {"inputs": len(learned.before), **learned.distinct()},
        "padded": {**padded.counts, "kept": len(padded.variants)},
    }
    rows = padded.variants.with_columns(
        kind=pl.lit("padded"), label_agrees=pl.lit(None, pl.Boolean), part=pl.lit("train")
    )
    return ExtraWords(
        pl.concat([mined.select(list(EXTRA_WORDS_VARIANTS)), rows]), _queries(mined), metrics
    )


def _titles(aliases: pl.DataFrame) -> pl.DataFrame:
    """Cleaned titles of the split `train`: `title, occupation_ids` (all that hold it), `size`."""
    cleaned = [clean_title(title) for title in aliases["title"]]
    return (
        aliases.with_columns(
            title=pl.Series(cleaned, dtype=pl.String),
            size=pl.len().over("occupation_id").cast(pl.UInt32),
        )
        .group_by("title", maintain_order=True)
        .agg(
            pl.col("occupation_id").unique().sort().alias("occupation_ids"),
            pl.col("size").max(),
            (pl.col("split") == "train").any().alias("searched"),
        )
        .filter("searched")
        .drop("searched")
    )


def _parts(count: int, params: ExtraWordsParams, seed: int) -> pl.Series:
    """A part for each of `count` rows at random; a part's number is its share's to within one."""
    shares = np.cumsum([params.test_share, params.valid_share, params.gate_share])
    ends = np.rint(shares * count).astype(np.int64)
    place = generator(seed, "extra_words", "parts").permutation(count)
    names = np.array([*PARTS, "train"], object)
    return pl.Series("part", names[np.searchsorted(ends, place, side="right")], pl.String)


def _slice() -> pl.Expr:
    agrees = pl.col("label_agrees")
    return (
        pl.when(agrees.is_null())
        .then(pl.lit("unlabelled"))
        .when(agrees)
        .then(pl.lit("label_agrees"))
        .otherwise(pl.lit("label_differs"))
    )


def _queries(mined: pl.DataFrame) -> pl.DataFrame:
    number = pl.int_range(pl.len()).over("part")
    return (
        mined.filter(pl.col("part") != "train")
        .rename({"variant": "raw_title", "size": "occupation_size"})
        .with_columns(
            query_id=pl.format("extra_words-{}-{}", "part", number), test=pl.lit("extra_words")
        )
        .select(list(QUERIES))
    )


def _counted(mined: pl.DataFrame) -> dict[str, object]:
    """Mined inputs by part and slice, and by slice alone."""
    by_part: dict[str, dict[str, int]] = {}
    for part, source, count in mined.group_by("part", "source").len().sort("part", "source").rows():
        by_part.setdefault(part, {})[source] = count
    by_slice = mined.group_by("source").len().sort("source").rows()
    return {"by_part": by_part, "by_slice": dict(by_slice)}


def main() -> None:
    """Run the stage on its files."""
    params = load_params()
    data = Path("data")
    written = (("typos", VARIANTS), ("synonyms", SYNONYM_VARIANTS))
    made = extra_words(
        read_frame(data / "split/aliases.parquet", SPLIT_ALIASES),
        read_frame(data / "split/inputs.parquet", SPLIT_INPUTS),
        pl.concat(
            read_frame(data / f"{stage}/queries.parquet", QUERIES)
            for stage in ("split", "typos", "synonyms")
        ),
        pl.concat(
            read_frame(data / f"{stage}/variants.parquet", schema).select(list(VARIANTS))
            for stage, schema in written
        ),
        params.extra_words,
        params.seed,
    )
    write_frame(made.variants, FOLDER / "variants.parquet", EXTRA_WORDS_VARIANTS)
    write_frame(made.queries, FOLDER / "queries.parquet", QUERIES)
    write_json(made.metrics, FOLDER / "metrics.json")
    print(made.metrics)


if __name__ == "__main__":
    run(main)
