"""Stage `companion`: a second taxonomy whose titles train beside the first one's, in no index.

Its occupations say which of its titles belong together; no crosswalk says what they are in the
first taxonomy, so that titles of the two are never told apart (`models/training/strings.py`). In:
the files that section `companion` names, and the queries of all tests. Out:
`data/companion/titles.parquet`, empty with the reader `none`, and what was refused. Titles that any
test asks are left out and counted.
"""

from __future__ import annotations

from collections.abc import Container
from pathlib import Path
from typing import Annotated, ClassVar, NamedTuple, Self

import polars as pl
from pydantic import AfterValidator, model_validator

from tasks.files.command import run
from tasks.files.counts import say
from tasks.files.frames import write_frame, write_json
from tasks.files.queries import queried_strings
from tasks.files.schemas import COMPANION, REJECTED
from tasks.files.titles import with_readings
from tasks.ingest import TaxonomyParams
from tasks.params.section import Section, Share, load, require_below
from tasks.readers.rejected import Ledger, require_few_refused
from tasks.readers.taxonomies import checked_reader, taxonomy_reader
from tasks.readers.taxonomy import Taxonomy

FOLDER = Path("data/companion")
NONE = "none"
"""The reader of no file."""


def _checked_reader(name: str) -> str:
    return name if name == NONE else checked_reader(name)


class CompanionParams(TaxonomyParams, Section):
    """Section `companion`: as `ingest.taxonomy`, with a folder of its own."""

    NAME: ClassVar[str] = "companion"
    reader: Annotated[str, AfterValidator(_checked_reader)]
    folder: str
    max_rejected_share: Share

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
    asked = pl.Series([name in queried for name in read["normalized"]], dtype=pl.Boolean)
    titles = (
        read.filter(~asked)
        .group_by(pl.col("cleaned").alias("title"), maintain_order=True)
        .agg(
            pl.col("normalized").first(),
            pl.col("occupation_id").unique().sort().alias("occupation_ids"),
        )
    )
    counts = {"rows": len(read), "asked": int(asked.sum()), "titles": len(titles)}
    return Companion(titles, counts)


def main() -> None:
    """Run the stage on its files; rejected rows are written even if it fails."""
    params, ledger = load(CompanionParams), Ledger()
    taxonomy = Taxonomy(ledger)
    if params.reader != NONE:
        taxonomy = taxonomy_reader(params.reader)(params.located, ledger)
    print(*ledger.read_as(), sep="\n")
    write_frame(ledger.frame(), FOLDER / "rejected.parquet", REJECTED)
    require_few_refused(ledger, params.max_rejected_share, params.NAME)
    made = companion(taxonomy.aliases(), queried_strings())
    write_frame(made.titles, FOLDER / "titles.parquet", COMPANION)
    write_json({**made.counts, "rejected": ledger.reasons()}, FOLDER / "metrics.json")
    say(made.counts)


if __name__ == "__main__":
    run(main)
