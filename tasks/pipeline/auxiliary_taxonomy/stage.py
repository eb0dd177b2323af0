"""Stage `auxiliary_taxonomy`: a second taxonomy whose titles train beside the first one's, in no index.

Its occupations say which of its titles belong together; no crosswalk says what they are in the
first taxonomy, so that titles of the two are never told apart (`models/training/strings.py`). In:
the files that section `auxiliary_taxonomy` names, and the queries of all tests. Out:
`data/auxiliary_taxonomy/titles.parquet`, empty with the reader `none`, and what was refused. After the
titles come noisy copies of them, misspelt as section `typos` says, in the phrases of `extra_words`.
What any test asks is left out and counted.
"""

from __future__ import annotations

from collections.abc import Container
from pathlib import Path
from typing import NamedTuple

import polars as pl

from models.reproducibility.seeding import generator
from tasks.io.command import run
from tasks.io.counts import say
from tasks.io.frames import write_frame, write_json
from tasks.io.queries import queried_strings
from tasks.io.schemas import AUXILIARY_TITLES, REJECTED
from tasks.io.section import (
    load,
    load_run,
)
from tasks.io.title_readings import with_readings
from tasks.pipeline.augmentation.superfluous import Superfluous, known
from tasks.pipeline.auxiliary_taxonomy.noisy_titles import noisy_titles
from tasks.pipeline.auxiliary_taxonomy.params import (
    NONE,
    AuxiliaryTaxonomyParams,
    NoiseParams,
)
from tasks.pipeline.extra_words.params import ExtraWordsParams
from tasks.pipeline.ingest.taxonomies import taxonomy_reader
from tasks.pipeline.ingest.taxonomy import Taxonomy
from tasks.pipeline.typos.params import TyposParams
from tasks.tables.rejected import RejectedRows, require_few_refused

FOLDER = Path("data/auxiliary_taxonomy")


class AuxiliaryTitles(NamedTuple):
    """Schema `AUXILIARY_TITLES`, and how many titles the taxonomy has and how many a test asks."""

    titles: pl.DataFrame
    counts: dict[str, int]


def auxiliary_taxonomy(aliases: pl.DataFrame, queried: Container[str]) -> AuxiliaryTitles:
    """Return the distinct cleaned titles that no query asks, with all occupations that hold them.

    Args:
        aliases: schema `ALIASES`, of the second taxonomy.
        queried: normalized strings of all queries.
    """
    read = with_readings(aliases, "title").filter(pl.col("cleaned") != "")
    kept = _without(queried, read)
    titles = _distinct(kept).with_columns(noisy=pl.lit(False))
    counts = {"rows": len(read), "asked": len(read) - len(kept), "titles": len(titles)}
    return AuxiliaryTitles(titles.select(list(AUXILIARY_TITLES)), counts)


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
        titles: schema `AUXILIARY_TITLES`.
        queried: normalized strings of all queries.
        words: to pad with.
        rates: shares of characters that are substituted and deleted.
        params: how many and how noisy.
        seed: the pipeline's seed.
    """
    rng = generator(seed, "auxiliary_taxonomy", "noise")
    copied = pl.concat([titles.clear(), *[titles] * params.copies])
    padded, misspelt = (
        rng.random(len(copied)) < share for share in (params.padded, params.misspelt)
    )
    noisy = noisy_titles(copied["title"].to_list(), words, padded, misspelt, rates, rng)
    named = pl.DataFrame({"title": noisy, "occupation_id": copied["occupation_ids"]})
    read = with_readings(named.explode("occupation_id"), "title")
    kept = _without({*titles["normalized"], ""}, _without(queried, read))
    return _distinct(kept).with_columns(noisy=pl.lit(True)).select(list(AUXILIARY_TITLES))


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
    params, rejected_rows = load(AuxiliaryTaxonomyParams), RejectedRows()
    taxonomy = Taxonomy(rejected_rows)
    if params.reader != NONE:
        taxonomy = taxonomy_reader(params.reader)(params.located, rejected_rows)
    print(*rejected_rows.read_as(), sep="\n")
    write_frame(rejected_rows.frame(), FOLDER / "rejected.parquet", REJECTED)
    require_few_refused(rejected_rows, params.max_rejected_share, params.NAME)
    queried, phrases, typos = queried_strings(), load(ExtraWordsParams).phrases, load(TyposParams)
    made = auxiliary_taxonomy(taxonomy.aliases(), queried)
    copies = noisy_copies(
        made.titles,
        queried,
        known(phrases.before, phrases.after),
        (typos.substituted, typos.deleted),
        params.noise,
        load_run().seed,
    )
    write_frame(pl.concat([made.titles, copies]), FOLDER / "titles.parquet", AUXILIARY_TITLES)
    counts = {**made.counts, "noisy_copies": len(copies)}
    write_json({**counts, "rejected": rejected_rows.reasons()}, FOLDER / "metrics.json")
    say(counts)


if __name__ == "__main__":
    run(main)
