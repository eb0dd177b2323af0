"""Stage `auxiliary_taxonomy`: a second taxonomy, whose titles train but stand in no index.

In: the files that section `auxiliary_taxonomy` names, and the queries of all tests. Out: rejected
rows and `data/auxiliary_taxonomy/titles.parquet`, empty with the reader `none`: titles that no test
queries, then noisy copies. None is a negative of the index's titles (`models/training/batches.py`).
"""

from __future__ import annotations

from collections.abc import Container
from pathlib import Path
from typing import Annotated, ClassVar, Self

import numpy as np
import polars as pl
from pydantic import AfterValidator, model_validator

from models.reproducibility import generator
from tasks.io.command import print_counts, run
from tasks.io.files import write_json
from tasks.io.frames import write_frame
from tasks.io.mixes import queried_strings
from tasks.io.schemas import AUXILIARY_TITLES, REJECTED
from tasks.io.section import Number, Params, Section, Share, load, load_run, require_below
from tasks.io.title_readings import with_readings, without
from tasks.pipeline.extra_words.stage import ExtraWordsParams
from tasks.pipeline.extra_words.superfluous import Superfluous, known, pad
from tasks.pipeline.ingest.taxonomy import Taxonomy, TaxonomyParams, checked_reader, read_taxonomy
from tasks.pipeline.typos import TyposParams, corrupt_by_rate, letters_of
from tasks.tables.rejected import RejectedRows, require_few_refused

FOLDER = Path("data/auxiliary_taxonomy")
NONE = "none"  # the reader of no file


class NoiseParams(Params):
    """How many copies of each title are drawn, and which shares are padded and misspelt."""

    copies: Number
    padded: Share
    misspelt: Share


class AuxiliaryTaxonomyParams(TaxonomyParams, Section):
    """Section `auxiliary_taxonomy`: as `ingest.taxonomy`, with a folder of its own."""

    NAME: ClassVar[str] = "auxiliary_taxonomy"
    reader: Annotated[
        str, AfterValidator(lambda name: name if name == NONE else checked_reader(name))
    ]
    folder: str
    max_rejected_share: Share
    noise: NoiseParams

    @model_validator(mode="after")
    def _files_are_in_the_folder(self) -> Self:
        require_below(self.folder, list(self.files.values()), self.NAME)
        return self

    @property
    def located(self) -> Self:
        """The same with the paths of the files."""
        files = {name: f"{self.folder}/{file}" for name, file in self.files.items()}
        return self.model_copy(update={"files": files})


def auxiliary_taxonomy(
    aliases: pl.DataFrame, queried: Container[str]
) -> tuple[pl.DataFrame, dict[str, int]]:
    """Return distinct titles of `ALIASES` that are no query (`AUXILIARY_TITLES`), and counts."""
    read = with_readings(aliases, "title").filter(pl.col("cleaned") != "")
    kept = without(read, queried)
    titles = _distinct(kept, noisy=False)
    return titles, {"rows": len(read), "queried": len(read) - len(kept), "titles": len(titles)}


def noisy_copies(
    titles: pl.DataFrame,
    queried: Container[str],
    words: Superfluous,
    rates: tuple[float, float],
    params: NoiseParams,
    seed: int,
) -> pl.DataFrame:
    """Return distinct copies (schema as `titles`, `AUXILIARY_TITLES`), none a title or a query.

    `words`: to pad with; `rates`: shares of characters that are substituted and deleted.
    """
    rng = generator(seed, "companion", "noise")  # draws depend on this name
    copied = pl.concat([titles.clear(), *[titles] * params.copies])
    padded = rng.random(len(copied)) < params.padded
    misspelt = rng.random(len(copied)) < params.misspelt
    noisy = np.array(copied["title"].to_list(), object)
    letters = letters_of(noisy.tolist())
    if words:
        noisy[padded] = pad(noisy[padded].tolist(), words, rng)
    noisy[misspelt] = corrupt_by_rate(noisy[misspelt].tolist(), *rates, letters, rng)
    named = pl.DataFrame({"title": noisy.tolist(), "occupation_id": copied["occupation_ids"]})
    read = with_readings(named.explode("occupation_id"), "title")
    kept = without(without(read, queried), {*titles["normalized"], ""})
    return _distinct(kept, noisy=True)


def _distinct(read: pl.DataFrame, *, noisy: bool) -> pl.DataFrame:
    return read.group_by(pl.col("cleaned").alias("title"), maintain_order=True).agg(
        pl.col("normalized").first(),
        pl.col("occupation_id").unique().sort().alias("occupation_ids"),
        noisy=pl.lit(noisy),
    )


def main() -> None:
    """Run the stage on its files; rejected rows are written even if it fails."""
    params, rejected_rows = load(AuxiliaryTaxonomyParams), RejectedRows()
    taxonomy = Taxonomy(rejected_rows)
    if params.reader != NONE:
        taxonomy = read_taxonomy(params.located, rejected_rows)
    print(*rejected_rows.read_as(), sep="\n")
    write_frame(rejected_rows.frame(), FOLDER / "rejected.parquet", REJECTED)
    require_few_refused(rejected_rows, params.max_rejected_share, params.NAME)
    queried, phrases, typos = queried_strings(), load(ExtraWordsParams).phrases, load(TyposParams)
    titles, counts = auxiliary_taxonomy(taxonomy.aliases(), queried)
    words, rates = known(phrases.before, phrases.after), (typos.substituted, typos.deleted)
    copies = noisy_copies(titles, queried, words, rates, params.noise, load_run().seed)
    write_frame(pl.concat([titles, copies]), FOLDER / "titles.parquet", AUXILIARY_TITLES)
    counts |= {"noisy_copies": len(copies)}
    write_json({**counts, "rejected": rejected_rows.reasons()}, FOLDER / "metrics.json")
    print_counts(counts)


if __name__ == "__main__":
    run(main)
