"""Stage `split`: aliases and labelled inputs to splits for training, validation, gate and test.

In: `data/ingest/{aliases,inputs}.parquet`. Out: `data/split/{aliases,titles,inputs,queries}`.
Queries are the tests `heldout_alias` and `annotations`, in the splits test, valid and gate. None is
normalized as a string that something trains on: a title that stands in the taxonomy twice is never
held out, and an input that is a title of it is `known` and no query.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, ClassVar, NamedTuple

import polars as pl
from pydantic import Field

from models.reproducibility import generator
from tasks.io.command import print_counts, run
from tasks.io.files import write_json
from tasks.io.frames import read_frame, write_frame
from tasks.io.schemas import ALIASES, INPUTS, QUERIES, SPLIT_ALIASES, SPLIT_INPUTS, TITLES
from tasks.io.section import Section, Share, load, load_run
from tasks.io.title_readings import with_readings

FOLDER = Path("data/split")
QUERY_SPLIT_OF = {"heldout_alias": "test", "annotations": "test", "valid": "valid", "gate": "gate"}


class SplitParams(Section):
    """Section `split`: sizes from which an occupation gives aliases away; shares of inputs."""

    NAME: ClassVar[str] = "split"
    PARTS = ("annotations_share", "gate_share", "valid_share")
    heldout_min_titles: Annotated[int, Field(ge=2)]
    valid_min_titles: Annotated[int, Field(ge=2)]
    gate_min_titles: Annotated[int, Field(ge=2)]
    annotations_share: Share
    gate_share: Share
    valid_share: Share


class Split(NamedTuple):
    """The frames of the stage."""

    aliases: pl.DataFrame
    titles: pl.DataFrame
    inputs: pl.DataFrame
    queries: pl.DataFrame


def split(aliases: pl.DataFrame, inputs: pl.DataFrame, params: SplitParams, seed: int) -> Split:
    """Give every alias (schema `ALIASES`) and input (`INPUTS`) its split, and make the queries."""
    split_aliases = _split_aliases(aliases, params, seed)
    split_inputs = _split_inputs(inputs, set(split_aliases["normalized"]), params, seed)
    sizes = dict(aliases.group_by("occupation_id").len().iter_rows())
    as_inputs = split_aliases.rename({"title": "raw_title"})
    of_aliases = _queries("heldout_alias", "alias", as_inputs, sizes)
    of_inputs = _queries("annotations", "input", split_inputs, sizes)
    return Split(
        split_aliases.select(list(SPLIT_ALIASES)),
        distinct_titles(split_aliases),
        split_inputs.select(list(SPLIT_INPUTS)),
        pl.concat([of_aliases, of_inputs]),
    )


def distinct_titles(aliases: pl.DataFrame) -> pl.DataFrame:
    """Return schema `TITLES` of `SPLIT_ALIASES`, in their order, without empty titles."""
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
    """Give heldout_alias, valid and gate one alias each of each occupation that is large enough."""
    rng = generator(seed, "split", "aliases")
    frame = with_readings(aliases, "title").with_columns(
        draw=pl.Series(rng.random(len(aliases))),
        size=pl.len().over("occupation_id"),
        # a column of its own: inside the next `over` it would count within the occupation only
        owners=pl.len().over("normalized"),
    )
    # the label stays in the index: it is the one title that every consumer knows
    free = ~pl.col("preferred") & (pl.col("owners") == 1)
    turn = pl.when(free).then("draw").rank("ordinal").over("occupation_id")
    least = (params.heldout_min_titles, params.valid_min_titles, params.gate_min_titles)
    splits = (
        pl.when((pl.col("turn") == n) & (pl.col("size") >= size)).then(pl.lit(name))
        for n, name, size in zip((1, 2, 3), ("heldout_alias", "valid", "gate"), least, strict=True)
    )
    return frame.with_columns(turn=turn).with_columns(split=pl.coalesce(*splits, pl.lit("train")))


def _split_inputs(
    inputs: pl.DataFrame, known: set[str], params: SplitParams, seed: int
) -> pl.DataFrame:
    """Split labelled inputs by share; equal normalized titles stay together."""
    frame = with_readings(inputs)
    distinct = frame["normalized"].unique().sort()
    draws = generator(seed, "split", "inputs").random(len(distinct))
    drawn = pl.DataFrame({"normalized": distinct, "draw": draws})
    gate = params.annotations_share + params.gate_share
    cases = {
        "unlabelled": pl.col("occupation_id").is_null(),
        "known": pl.col("normalized").is_in(known),
        "annotations": pl.col("draw") < params.annotations_share,
        "gate": pl.col("draw") < gate,
        "valid": pl.col("draw") < gate + params.valid_share,
    }
    splits = (pl.when(holds).then(pl.lit(name)) for name, holds in cases.items())
    return frame.join(drawn, on="normalized", maintain_order="left").with_columns(
        split=pl.coalesce(*splits, pl.lit("train"))
    )


def _queries(test: str, source: str, frame: pl.DataFrame, sizes: dict[str, int]) -> pl.DataFrame:
    """Return rows of the splits test, valid and gate as queries with one gold occupation each."""
    chosen = frame.filter(pl.col("split").is_in(list(QUERY_SPLIT_OF)))
    return chosen.with_columns(
        query_id=pl.format("{}-{}", pl.lit(test), pl.int_range(pl.len())),
        test=pl.lit(test),
        split=pl.col("split").replace_strict(QUERY_SPLIT_OF),
        occupation_ids=pl.concat_list("occupation_id"),
        occupation_size=pl.col("occupation_id").replace_strict(sizes, return_dtype=pl.UInt32),
        source=pl.lit(source),
    ).select(list(QUERIES))


def main() -> None:
    """Run the stage on its files."""
    frames = split(
        read_frame(Path("data/ingest/aliases.parquet"), ALIASES),
        read_frame(Path("data/ingest/inputs.parquet"), INPUTS),
        load(SplitParams),
        load_run().seed,
    )
    write_frame(frames.aliases, FOLDER / "aliases.parquet", SPLIT_ALIASES)
    write_frame(frames.titles, FOLDER / "titles.parquet", TITLES)
    write_frame(frames.inputs, FOLDER / "inputs.parquet", SPLIT_INPUTS)
    write_frame(frames.queries, FOLDER / "queries.parquet", QUERIES)
    counts = {
        name: dict(frame["split"].value_counts().sort("split").iter_rows())
        for name, frame in (("aliases", frames.aliases), ("inputs", frames.inputs))
    }
    write_json(counts, FOLDER / "metrics.json")
    print_counts(counts)


if __name__ == "__main__":
    run(main)
