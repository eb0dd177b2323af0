"""Titles said with a synonym, and the Composition test (mix 2's source and test).

In: `data/split/{titles,queries}.parquet`, `data/typos/{variants,queries}.parquet` and the manual
set. Out: `data/synonyms/synonyms.parquet` (accepted pairs), `variants.parquet` (title, variant) for
training, `queries.parquet`, `rejected.parquet` (rows of the manual set) and counts. Neculoiu et
al. 2016, section 4.2, point 2.

A generated title is judged as a normalized string. One that is a title of any occupation, in any
split, or a query of an earlier stage is left out of training and test alike; one that is a
misspelt variant of mix 1 is no query. The others are held out (`tasks/augment/composition.py`) or
train, each string on one side only, with one spelling, the first. Its gold is every occupation that
holds one of the titles from which it is made. Besides, the gate asks titles with two exchanges
(`tasks/augment/two_exchanges.py`).
"""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar, Literal, NamedTuple

import polars as pl

from tasks.augment.composition import composition_queries, hold_out
from tasks.augment.induction import induce
from tasks.augment.substitution import substitute
from tasks.augment.synonym_counts import induction_counts, part_counts, supported, title_counts
from tasks.augment.two_exchanges import twice_exchanged
from tasks.files.command import run
from tasks.files.counts import say
from tasks.files.frames import read_frame, write_frame, write_json
from tasks.files.schemas import (
    QUERIES,
    REJECTED,
    SYNONYM_VARIANTS,
    SYNONYMS,
    TITLES,
)
from tasks.files.sources import earlier_queries, earlier_variants
from tasks.params.section import Count, Number, Section, Share, load, load_run
from tasks.readers.rejected import RejectedRows, require_few_refused
from tasks.readers.synonyms import read_synonyms

FOLDER = Path("data/synonyms")


class SynonymsParams(Section):
    """Section `synonyms`: the manual set, the rules of induction, and the Composition test."""

    NAME: ClassVar[str] = "synonyms"
    reader: Literal["table", "thesaurus", "none"]
    file: str
    columns: dict[str, str]
    max_shared_words: Count
    max_part_words: Count
    min_contexts: Count
    test_share: Share
    max_test: Number
    probe_titles: Number
    gate_titles: Number
    max_rejected_share: Share


class Synonyms(NamedTuple):
    """Accepted pairs, variants for training, queries, and what `metrics.json` counts."""

    synonyms: pl.DataFrame
    variants: pl.DataFrame
    queries: pl.DataFrame
    counts: dict[str, object]


def synonyms(
    titles: pl.DataFrame,
    queries: pl.DataFrame,
    misspelt: pl.DataFrame,
    manual: list[tuple[str, str]],
    params: SynonymsParams,
    seed: int,
) -> Synonyms:
    """Exchange phrases of the titles of the split `train`.

    Args:
        titles: schema `TITLES`.
        queries: schema `QUERIES`, the tests of earlier stages, all parts.
        misspelt: schema `VARIANTS`, what earlier stages train on.
        manual: pairs of normalized phrases (`tasks/readers/synonyms.py`).
        params: section `synonyms`.
        seed: the pipeline's seed.
    """
    taxonomy, queried = set(titles["normalized"]), set(queries["normalized"])
    training = titles.filter(pl.col("split") == "train")
    owned = training.explode("occupation_ids").rename({"occupation_ids": "occupation_id"})
    induction = induce(owned, taxonomy, params)
    pairs = _pairs(induction.passed, manual)
    # all that the paper's rules make, because the stricter row is reported beside them
    generated = substitute(training, pairs)
    fresh = generated.filter(~pl.col("normalized").is_in(list(taxonomy | queried)))
    served = supported(params.min_contexts)
    strings = hold_out(fresh.filter(served), training, set(misspelt["normalized"]), params, seed)
    variants = _variants(fresh.filter(served), strings)
    taken = taxonomy | queried | set(misspelt["normalized"])
    twice = twice_exchanged(strings, pairs.filter(served), taken, params, seed)
    sizes = dict(titles.explode("occupation_ids").group_by("occupation_ids").len().iter_rows())
    counts = {
        "induction": induction_counts(
            induction.counts, induction.passed, fresh, params.min_contexts
        ),
        "manual_pairs": len(manual),
        "titles": title_counts(generated.filter(served), taxonomy, queried),
        "parts": part_counts(strings, variants),
        "gate_queries_of_two_exchanges": len(twice),
    }
    queries = composition_queries(pl.concat([strings, twice]), sizes)
    return Synonyms(pairs.filter(served), variants, queries, counts)


def _pairs(passed: pl.DataFrame, manual: list[tuple[str, str]]) -> pl.DataFrame:
    """Return both sources as schema `SYNONYMS`; manual pairs have no occupation and no contexts."""
    by_hand = pl.DataFrame(manual, schema={"part": pl.String, "other": pl.String}, orient="row")
    frames = [
        passed.with_columns(kind=pl.lit("induced")),
        by_hand.with_columns(kind=pl.lit("manual")),
    ]
    return pl.concat([pl.DataFrame(schema=SYNONYMS), *frames], how="diagonal").select(
        list(SYNONYMS)
    )


def _variants(served: pl.DataFrame, strings: pl.DataFrame) -> pl.DataFrame:
    """Schema `SYNONYM_VARIANTS`; a string is named once a title, with the first of its pairs."""
    training = strings.filter(pl.col("part") == "train").select("normalized", "variant")
    return (
        served.drop("variant")
        .join(training, on="normalized")
        .sort("title", "variant", "kind", "part", "other")
        .unique(["title", "variant"], keep="first", maintain_order=True)
        .select(list(SYNONYM_VARIANTS))
    )


def main() -> None:
    """Run the stage on its files; rejected rows are written even if it fails."""
    params, ledger = load(SynonymsParams), RejectedRows()
    manual = read_synonyms(params, ledger)
    print(*ledger.read_as(), sep="\n")
    write_frame(ledger.frame(), FOLDER / "rejected.parquet", REJECTED)
    require_few_refused(ledger, params.max_rejected_share, "synonyms")
    made = synonyms(
        read_frame(Path("data/split/titles.parquet"), TITLES),
        earlier_queries("synonyms"),
        earlier_variants("synonyms"),
        manual,
        params,
        load_run().seed,
    )
    write_frame(made.synonyms, FOLDER / "synonyms.parquet", SYNONYMS)
    write_frame(made.variants, FOLDER / "variants.parquet", SYNONYM_VARIANTS)
    write_frame(made.queries, FOLDER / "queries.parquet", QUERIES)
    rejected = {"rows_read": sum(ledger.rows.values()), "rejected": ledger.reasons()}
    write_json({**made.counts, "manual_set": rejected}, FOLDER / "metrics.json")
    say({name: made.counts[name] for name in ("titles", "parts")})


if __name__ == "__main__":
    run(main)
