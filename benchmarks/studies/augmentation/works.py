"""What this study times: the functions of the stages, on a workspace's files."""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import polars as pl
import pyarrow as pa

from benchmarks.timing import peak_mib
from models.repeatable.seeding import generator
from tasks.augment.induction import induce
from tasks.extra_words import MINED_FROM, extra_words
from tasks.files.frames import Schema, read_frame
from tasks.files.schemas import QUERIES, SPLIT_INPUTS, TITLES
from tasks.files.sources import SOURCES, earlier_queries, earlier_variants, training_variants
from tasks.pairing.drawn_pairs import base_pairs, new_pairs, variant_pairs
from tasks.pairing.pair_blocks import write_blocks
from tasks.pairing.strings_table import append, base_strings, variant_strings
from tasks.pairs import counting
from tasks.params.whole import load_params
from tasks.readers.rejected import RejectedRows
from tasks.readers.synonyms import read_synonyms
from tasks.synonyms import synonyms

Work = Callable[[], int]
TRAINS = pl.col("split") == "train"


class Files:
    """What the stages of a workspace have written."""

    def __init__(self, workspace: Path) -> None:
        self.workspace, self.data = workspace, workspace / "data"
        self.params = load_params(workspace / "params.yaml")
        self.titles = self.read("split/titles", TITLES)

    def read(self, name: str, schema: Schema) -> pl.DataFrame:
        """Return `data/NAME.parquet`."""
        return read_frame(self.data / f"{name}.parquet", schema)


def induction(files: Files, copies: int) -> Work:
    """Prepare `tasks.augment.induction` on the training titles and copies of them."""
    owned = files.titles.explode("occupation_ids").rename({"occupation_ids": "occupation_id"})
    many = copied(owned.select("occupation_id", "split", "normalized"), copies)
    titles, taxonomy = many.filter(TRAINS), set(many["normalized"])

    def work() -> int:
        induce(titles, taxonomy, files.params.synonyms)
        return len(titles)

    return work


def copied(titles: pl.DataFrame, copies: int) -> pl.DataFrame:
    """Return rows with `occupation_id, normalized` so often; copies share no word or id."""
    words = pl.col("normalized").str.split(" ").list
    return pl.concat(
        titles.with_columns(
            pl.format("{}#{}", "occupation_id", pl.lit(copy)),
            normalized=words.eval(pl.element() + f"q{copy}").list.join(" "),
        )
        for copy in range(copies)
    )


def making_synonyms(files: Files) -> Work:
    """Prepare the stage: induction, exchanging, and holding out."""
    section = files.params.synonyms
    here = section.model_copy(update={"file": str(files.workspace / section.file)})
    manual = read_synonyms(here, RejectedRows())
    queries = earlier_queries("synonyms", files.data)
    misspelt = earlier_variants("synonyms", files.data)

    def work() -> int:
        synonyms(files.titles, queries, misspelt, manual, section, files.params.seed)
        return len(files.titles.filter(TRAINS))

    return work


def making_extra_words(files: Files) -> Work:
    """Prepare the stage: mining the inputs, and learning superfluous words."""
    inputs = files.read("split/inputs", SPLIT_INPUTS)
    queries = earlier_queries("extra_words", files.data)
    variants = earlier_variants("extra_words", files.data)
    params = files.params

    def work() -> int:
        extra_words(files.titles, inputs, queries, variants, params.extra_words, params.seed)
        return len(inputs.filter(pl.col("split").is_in(MINED_FROM)))

    return work


def making_pairs(files: Files) -> Work:
    """Prepare pairs of the base taxonomy and of synonyms, drawn and written."""
    params, rng = files.params.pairs, generator(1, "augmentation_speed")
    (source,) = (source for source in SOURCES if source.stage == "synonyms")
    variants = training_variants(source, files.data)
    base = base_strings(files.titles, files.read("split/queries", QUERIES))
    strings = append(base, variant_strings(variants, base, source.name))

    def more(similar: int) -> Iterator[pa.Table]:
        wanted = new_pairs(similar, params.shares[source.name])
        return variant_pairs(strings, variants, source.name, wanted, params, rng)

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


def measure(test: str, workspace: Path) -> dict[str, float]:
    """Return rows, seconds, microseconds a row, and this process's peak in MiB."""
    work = WORKS[test](Files(workspace))
    began = time.perf_counter()
    count = work()
    seconds = time.perf_counter() - began
    for_one = 1e6 * seconds / max(1, count)
    peak = peak_mib()
    return {"rows": count, "seconds": seconds, "microseconds_per_row": for_one, "peak_mib": peak}


def main() -> None:
    """Print the figures of one test."""
    folder, test = sys.argv[1:]
    print(json.dumps(measure(test, Path(folder))))


if __name__ == "__main__":
    main()
