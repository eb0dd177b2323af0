"""What `benchmarks.augmentation_speed` times: the functions of the stages, on a workspace's files.

Each is prepared by reading, and then is one call that gives the number of rows: training titles,
for extra words inputs that may be mined, for pairs those that are written.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import polars as pl
import pyarrow as pa

from models.seeding import generator
from models.titles import normalize_title
from tasks.extra_words import MINED_FROM, extra_words
from tasks.frames import Schema, read_frame
from tasks.induction import induce
from tasks.pair_blocks import write_blocks
from tasks.pairs import base_pairs, counting, new_pairs, variant_pairs
from tasks.params import load_params
from tasks.readers.rejected import Ledger
from tasks.readers.synonyms import read_synonyms
from tasks.schemas import QUERIES, SPLIT_ALIASES, SPLIT_INPUTS, SYNONYM_VARIANTS, VARIANTS
from tasks.strings_table import append, base_strings, variant_strings
from tasks.synonyms import synonyms

Work = Callable[[], int]
TRAINS = pl.col("split") == "train"


class Files:
    """What the stages of a workspace have written."""

    def __init__(self, workspace: Path) -> None:
        self.workspace = workspace
        self.params = load_params(workspace / "params.yaml")
        self.aliases = self.read("split/aliases", SPLIT_ALIASES)

    def read(self, name: str, schema: Schema) -> pl.DataFrame:
        """`data/NAME.parquet`."""
        return read_frame(self.workspace / f"data/{name}.parquet", schema)

    def queries(self, *stages: str) -> pl.DataFrame:
        """All parts of the queries that these stages wrote."""
        return pl.concat(self.read(f"{stage}/queries", QUERIES) for stage in stages)


def induction(files: Files, copies: int) -> Work:
    """`tasks.induction` on the training titles and copies of them."""
    normal = [normalize_title(title) for title in files.aliases["title"]]
    named = files.aliases.select("occupation_id", "split", normalized=pl.Series(normal))
    many = copied(named, copies)
    titles, taxonomy = many.filter(TRAINS), set(many["normalized"])

    def work() -> int:
        induce(titles, taxonomy, files.params.synonyms)
        return len(titles)

    return work


def copied(titles: pl.DataFrame, copies: int) -> pl.DataFrame:
    """Rows with `occupation_id, normalized` so many times; copies share no occupation or word."""
    words = pl.col("normalized").str.split(" ").list
    return pl.concat(
        titles.with_columns(
            pl.format("{}#{}", "occupation_id", pl.lit(copy)),
            normalized=words.eval(pl.element() + f"q{copy}").list.join(" "),
        )
        for copy in range(copies)
    )


def making_synonyms(files: Files) -> Work:
    """The stage: induction, exchanging, and holding out."""
    section = files.params.synonyms
    here = section.model_copy(update={"file": str(files.workspace / section.file)})
    manual = read_synonyms(here, Ledger())
    misspelt = files.read("typos/variants", VARIANTS)
    asked = files.queries("split", "typos")

    def work() -> int:
        synonyms(files.aliases, asked, misspelt, manual, section, files.params.seed)
        return len(files.aliases.filter(TRAINS))

    return work


def making_extra_words(files: Files) -> Work:
    """The stage: mining the inputs, and learning superfluous words."""
    inputs = files.read("split/inputs", SPLIT_INPUTS)
    variants = pl.concat(
        files.read(f"{stage}/variants", schema).select(list(VARIANTS))
        for stage, schema in (("typos", VARIANTS), ("synonyms", SYNONYM_VARIANTS))
    )
    asked = files.queries("split", "typos", "synonyms")
    params = files.params

    def work() -> int:
        extra_words(files.aliases, inputs, asked, variants, params.extra_words, params.seed)
        return len(inputs.filter(pl.col("split").is_in(MINED_FROM)))

    return work


def making_pairs(files: Files) -> Work:
    """Pairs of the base taxonomy and of synonyms, drawn and written."""
    params, rng = files.params.pairs, generator(1, "augmentation_speed")
    variants = files.read("synonyms/variants", SYNONYM_VARIANTS)
    base = base_strings(files.aliases, files.queries("split"))
    strings = append(base, variant_strings(variants, base, "synonym"))

    def more(similar: int) -> Iterator[pa.Table]:
        wanted = new_pairs(similar, params.shares.synonym)
        return variant_pairs(strings, variants, "synonym", wanted, params, rng)

    def work() -> int:
        with tempfile.TemporaryDirectory() as folder:
            blocks = counting(base_pairs(strings, params, rng), more)
            return write_blocks(blocks, Path(folder) / "pairs.parquet").total()

    return work


WORKS: dict[str, Callable[[Files], Work]] = {
    **{f"induction_x{copies}": partial(induction, copies=copies) for copies in (1, 4, 16)},
    "making_synonyms": making_synonyms,
    "making_extra_words": making_extra_words,
    "making_pairs": making_pairs,
}
