"""Stage `split`: aliases and labelled inputs to splits for training, validation, gate and test.

In: `data/ingest/{aliases,inputs}.parquet`. Out, in `data/split/`: `aliases`, `titles`, `inputs` and
`queries.parquet`. Queries are the tests `heldout_alias` and `annotations`, each in the splits test,
valid and gate. Two strings are the same if they are equal normalized, and no query is a string that
something trains on: a title that stands in the taxonomy twice is never held out, and an input that
normalizes to a title of the taxonomy is `known` and no query.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import polars as pl

from models.reproducibility.seeding import generator
from tasks.io.command import print_counts, run
from tasks.io.frames import read_frame, write_frame, write_json
from tasks.io.schemas import ALIASES, INPUTS, QUERIES, SPLIT_ALIASES, SPLIT_INPUTS, TITLES
from tasks.io.section import load, load_run
from tasks.io.title_readings import with_readings
from tasks.pipeline.split.params import SplitParams

FOLDER = Path("data/split")
QUERY_SPLIT_OF = {"heldout_alias": "test", "annotations": "test", "valid": "valid", "gate": "gate"}


class Split(NamedTuple):
    """The frames of the stage."""

    aliases: pl.DataFrame
    titles: pl.DataFrame
    inputs: pl.DataFrame
    queries: pl.DataFrame


def split(aliases: pl.DataFrame, inputs: pl.DataFrame, params: SplitParams, seed: int) -> Split:
    """Give every alias (schema `ALIASES`) and input (`INPUTS`) its split, and make the queries."""
    parted_aliases = _split_aliases(aliases, params, seed)
    known = set(parted_aliases["normalized"])
    parted_inputs = _split_inputs(inputs, known, params, seed)
    sizes = dict(aliases.group_by("occupation_id", maintain_order=True).len().iter_rows())
    queries = pl.concat(
        [
            _queries(
                "heldout_alias", "alias", parted_aliases.rename({"title": "raw_title"}), sizes
            ),
            _queries("annotations", "input", parted_inputs, sizes),
        ]
    )
    return Split(
        parted_aliases.select(list(SPLIT_ALIASES)),
        distinct_titles(parted_aliases),
        parted_inputs.select(list(SPLIT_INPUTS)),
        queries,
    )


def distinct_titles(aliases: pl.DataFrame) -> pl.DataFrame:
    """Return schema `TITLES` of `SPLIT_ALIASES`, in their order, without empty titles.

    A title that stands in the taxonomy twice is never held out, so that each has one split.
    """
    sized = aliases.with_columns(size=pl.len().over("occupation_id").cast(pl.UInt32))
    return (
        sized.filter(pl.col("cleaned") != "")
        .group_by(pl.col("cleaned").alias("title"), maintain_order=True)
        .agg(
            pl.col("normalized", "language").first(),
            pl.col("occupation_id").unique().sort().alias("occupation_ids"),
            pl.col("size").max().alias("occupation_size"),
            pl.col("split").first(),
        )
    )


def _split_aliases(aliases: pl.DataFrame, params: SplitParams, seed: int) -> pl.DataFrame:
    """One alias an occupation for each of heldout_alias, valid and gate, if it is large enough."""
    rng = generator(seed, "split", "aliases")
    frame = (
        with_readings(aliases, "title")
        .with_columns(
            draw=pl.Series(rng.random(len(aliases))), titles=pl.len().over("occupation_id")
        )
        .with_columns(
            # a column of its own: inside the next `over` it would count within the occupation only
            owners=pl.len().over("normalized")
        )
    )
    # the label stays in the index: it is the one title that every consumer knows
    free = ~pl.col("preferred") & (pl.col("owners") == 1)
    turn = pl.when(free).then("draw").rank("ordinal").over("occupation_id")
    size = pl.col("titles")
    return frame.with_columns(turn=turn).with_columns(
        split=pl.when((pl.col("turn") == 1) & (size >= params.heldout_min_titles))
        .then(pl.lit("heldout_alias"))
        .when((pl.col("turn") == 2) & (size >= params.valid_min_titles))
        .then(pl.lit("valid"))
        .when((pl.col("turn") == 3) & (size >= params.gate_min_titles))
        .then(pl.lit("gate"))
        .otherwise(pl.lit("train"))
    )


def _split_inputs(
    inputs: pl.DataFrame, known: set[str], params: SplitParams, seed: int
) -> pl.DataFrame:
    """Labelled inputs by share; equal normalized titles stay together."""
    frame = with_readings(inputs)
    distinct = frame["normalized"].unique().sort()
    draws = generator(seed, "split", "inputs").random(len(distinct))
    frame = frame.join(
        pl.DataFrame({"normalized": distinct, "draw": draws}),
        on="normalized",
        maintain_order="left",
    )
    annotations = params.annotations_share
    gate = annotations + params.gate_share
    valid = gate + params.valid_share
    return frame.with_columns(
        split=pl.when(pl.col("occupation_id").is_null())
        .then(pl.lit("unlabelled"))
        .when(pl.col("normalized").is_in(known))
        .then(pl.lit("known"))
        .when(pl.col("draw") < annotations)
        .then(pl.lit("annotations"))
        .when(pl.col("draw") < gate)
        .then(pl.lit("gate"))
        .when(pl.col("draw") < valid)
        .then(pl.lit("valid"))
        .otherwise(pl.lit("train"))
    )


def _queries(test: str, source: str, frame: pl.DataFrame, sizes: dict[str, int]) -> pl.DataFrame:
    """Return rows of the splits test, valid and gate as queries with one gold occupation each."""
    chosen = frame.filter(pl.col("split").is_in(list(QUERY_SPLIT_OF)))
    return chosen.select(
        query_id=pl.format("{}-{}", pl.lit(test), pl.int_range(pl.len())),
        test=pl.lit(test),
        split=pl.col("split").replace_strict(QUERY_SPLIT_OF),
        raw_title="raw_title",
        cleaned="cleaned",
        normalized="normalized",
        occupation_ids=pl.concat_list("occupation_id"),
        occupation_size=pl.col("occupation_id").replace_strict(sizes, return_dtype=pl.UInt32),
        source=pl.lit(source),
    ).select(list(QUERIES))


def main() -> None:
    """Run the stage on its files."""
    parts = split(
        read_frame(Path("data/ingest/aliases.parquet"), ALIASES),
        read_frame(Path("data/ingest/inputs.parquet"), INPUTS),
        load(SplitParams),
        load_run().seed,
    )
    write_frame(parts.aliases, FOLDER / "aliases.parquet", SPLIT_ALIASES)
    write_frame(parts.titles, FOLDER / "titles.parquet", TITLES)
    write_frame(parts.inputs, FOLDER / "inputs.parquet", SPLIT_INPUTS)
    write_frame(parts.queries, FOLDER / "queries.parquet", QUERIES)
    counts = {
        name: dict(frame["split"].value_counts().sort("split").iter_rows())
        for name, frame in (("aliases", parts.aliases), ("inputs", parts.inputs))
    }
    write_json(counts, FOLDER / "metrics.json")
    print_counts(counts)


if __name__ == "__main__":
    run(main)
