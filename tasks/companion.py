"""Stage `companion`: a second taxonomy whose titles train beside the first one's, in no index.

Its occupations say which of its titles belong together; no crosswalk says what they are in the
first taxonomy, so that titles of the two are never told apart (`models/training/strings.py`). In:
the files that section `companion` names, and the queries of all tests. Out:
`data/companion/titles.parquet`, empty with the reader `none`, and what was refused. After the
titles come noisy copies of them, misspelt as section `typos` says, in the phrases of `extra_words`.
What any test asks is left out and counted.
"""

from __future__ import annotations

from collections.abc import Container
from pathlib import Path
from typing import Annotated, ClassVar, NamedTuple, Self

import polars as pl
from pydantic import AfterValidator, model_validator

from models.repeatable.seeding import generator
from tasks.augment.noisy_titles import noisy_titles
from tasks.augment.superfluous import Superfluous, known
from tasks.extra_words import ExtraWordsParams
from tasks.files.command import run
from tasks.files.counts import say
from tasks.files.frames import write_frame, write_json
from tasks.files.queries import queried_strings
from tasks.files.schemas import COMPANION, REJECTED
from tasks.files.titles import with_readings
from tasks.ingest import TaxonomyParams
from tasks.params.section import (
    Number,
    Params,
    Section,
    Share,
    load,
    load_run,
    require_below,
)
from tasks.readers.rejected import RejectedRows, require_few_refused
from tasks.readers.taxonomies import checked_reader, taxonomy_reader
from tasks.readers.taxonomy import Taxonomy
from tasks.typos import TyposParams

FOLDER = Path("data/companion")
NONE = "none"
"""The reader of no file."""


def _checked_reader(name: str) -> str:
    return name if name == NONE else checked_reader(name)


class NoiseParams(Params):
    """How many copies of each title are drawn, and which shares are padded and misspelt."""

    copies: Number
    padded: Share
    misspelt: Share


class CompanionParams(TaxonomyParams, Section):
    """Section `companion`: as `ingest.taxonomy`, with a folder of its own."""

    NAME: ClassVar[str] = "companion"
    reader: Annotated[str, AfterValidator(_checked_reader)]
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


class Companion(NamedTuple):
    """Schema `COMPANION`, and how many titles the taxonomy has and how many a test asks."""

    titles: pl.DataFrame
    counts: dict[str, int]


def companion(aliases: pl.DataFrame, queried: Container[str]) -> Companion:
    """Return the distinct cleaned titles that no query asks, with all occupations that hold them.

    Args:
        aliases: schema `ALIASES`, of the second taxonomy.
        queried: normalized strings of all queries.
    """
    read = with_readings(aliases, "title").filter(pl.col("cleaned") != "")
    kept = _without(queried, read)
    titles = _distinct(kept).with_columns(noisy=pl.lit(False))
    counts = {"rows": len(read), "asked": len(read) - len(kept), "titles": len(titles)}
    return Companion(titles.select(list(COMPANION)), counts)


def noisy_copies(
    titles: pl.DataFrame,
    queried: Container[str],
    words: Superfluous,
    rates: tuple[float, float],
    params: NoiseParams,
    seed: int,
) -> pl.DataFrame:
    """Return distinct copies of the titles that are no title and that no query asks.

    A copy has all occupations of its title.

    Args:
        titles: schema `COMPANION`.
        queried: normalized strings of all queries.
        words: to pad with.
        rates: shares of characters that are substituted and deleted.
        params: how many and how noisy.
        seed: the pipeline's seed.
    """
    rng = generator(seed, "companion", "noise")
    copied = pl.concat([titles.clear(), *[titles] * params.copies])
    padded, misspelt = (
        rng.random(len(copied)) < share for share in (params.padded, params.misspelt)
    )
    noisy = noisy_titles(copied["title"].to_list(), words, padded, misspelt, rates, rng)
    named = pl.DataFrame({"title": noisy, "occupation_id": copied["occupation_ids"]})
    read = with_readings(named.explode("occupation_id"), "title")
    kept = _without({*titles["normalized"], ""}, _without(queried, read))
    return _distinct(kept).with_columns(noisy=pl.lit(True)).select(list(COMPANION))


def _distinct(read: pl.DataFrame) -> pl.DataFrame:
    return read.group_by(pl.col("cleaned").alias("title"), maintain_order=True).agg(
        pl.col("normalized").first(),
        pl.col("occupation_id").unique().sort().alias("occupation_ids"),
    )


def _without(strings: Container[str], read: pl.DataFrame) -> pl.DataFrame:
    there = [name in strings for name in read["normalized"]]
    return read.filter(~pl.Series(there, dtype=pl.Boolean))


def main() -> None:
    """Run the stage on its files; rejected rows are written even if it fails."""
    params, ledger = load(CompanionParams), RejectedRows()
    taxonomy = Taxonomy(ledger)
    if params.reader != NONE:
        taxonomy = taxonomy_reader(params.reader)(params.located, ledger)
    print(*ledger.read_as(), sep="\n")
    write_frame(ledger.frame(), FOLDER / "rejected.parquet", REJECTED)
    require_few_refused(ledger, params.max_rejected_share, params.NAME)
    queried, phrases, typos = queried_strings(), load(ExtraWordsParams).phrases, load(TyposParams)
    made = companion(taxonomy.aliases(), queried)
    copies = noisy_copies(
        made.titles,
        queried,
        known(phrases.before, phrases.after),
        (typos.substituted, typos.deleted),
        params.noise,
        load_run().seed,
    )
    write_frame(pl.concat([made.titles, copies]), FOLDER / "titles.parquet", COMPANION)
    counts = {**made.counts, "noisy_copies": len(copies)}
    write_json({**counts, "rejected": ledger.reasons()}, FOLDER / "metrics.json")
    say(counts)


if __name__ == "__main__":
    run(main)
