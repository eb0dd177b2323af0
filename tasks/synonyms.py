"""Titles said with a synonym, and the Composition test (stage 2's source and test).

In: `data/split/{aliases,queries}.parquet`, `data/typos/{variants,queries}.parquet` and the manual
set. Out: `data/synonyms/synonyms.parquet` (accepted pairs), `variants.parquet` (title, variant) for
training, `queries.parquet`, `rejected.parquet` (rows of the manual set) and counts. Neculoiu et
al. 2016, section 4.2, point 2.

A generated title is judged as a normalized string. One that is a title of any occupation, in any
split, or a query of an earlier stage is left out of training and test alike; one that is a
misspelt variant of stage 1 is no query. The others are held out (`tasks/composition.py`) or train,
each string on one side only, with one spelling, the first. Its gold is every occupation that holds
one of the titles from which it is made.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import polars as pl

from models.titles import clean_title, normalize_title
from tasks.command import run
from tasks.composition import composition_queries, hold_out
from tasks.frames import read_frame, write_frame, write_json
from tasks.induction import induce
from tasks.params import load_params
from tasks.queries import normalized
from tasks.readers.rejected import Ledger
from tasks.readers.synonyms import read_synonyms, require_few_refused
from tasks.schemas import (
    QUERIES,
    REJECTED,
    SPLIT_ALIASES,
    SYNONYM_VARIANTS,
    SYNONYMS,
    VARIANTS,
)
from tasks.sections import SynonymsParams
from tasks.substitution import substitute
from tasks.synonym_counts import induction_counts, part_counts, supported, title_counts

FOLDER = Path("data/synonyms")


class Synonyms(NamedTuple):
    """Accepted pairs, variants for training, queries, and what `metrics.json` counts."""

    synonyms: pl.DataFrame
    variants: pl.DataFrame
    queries: pl.DataFrame
    counts: dict[str, object]


def synonyms(
    aliases: pl.DataFrame,
    queries: pl.DataFrame,
    misspelt: pl.DataFrame,
    manual: list[tuple[str, str]],
    params: SynonymsParams,
    seed: int,
) -> Synonyms:
    """Exchange phrases of the titles of the split `train`.

    Args:
        aliases: schema `SPLIT_ALIASES`.
        queries: schema `QUERIES`, the tests of earlier stages, all parts.
        misspelt: schema `VARIANTS`, what earlier stages train on.
        manual: pairs of normalized phrases (`tasks/readers/synonyms.py`).
        params: section `synonyms`.
        seed: the pipeline's seed.
    """
    named = aliases.with_columns(normalized=_normalized(aliases["title"]))
    taxonomy, asked = set(named["normalized"]), normalized(queries["raw_title"])
    induction = induce(named.filter(pl.col("split") == "train"), taxonomy, params)
    pairs = _pairs(induction.passed, manual)
    titles = _titles(aliases)
    # all that the paper's rules make, because the stricter row is reported beside them
    generated = substitute(titles.select("title", occupation_ids="training_ids"), pairs)
    generated = generated.with_columns(normalized=_normalized(generated["variant"]))
    fresh = generated.filter(~pl.col("normalized").is_in(list(taxonomy | asked)))
    served = supported(params.min_contexts)
    strings = hold_out(fresh.filter(served), titles, normalized(misspelt["variant"]), params, seed)
    variants = _variants(fresh.filter(served), strings)
    sizes = dict(aliases.group_by("occupation_id", maintain_order=True).len().iter_rows())
    counts = {
        "induction": induction_counts(
            induction.counts, induction.passed, fresh, params.min_contexts
        ),
        "manual_pairs": len(manual),
        "titles": title_counts(generated.filter(served), taxonomy, asked),
        "parts": part_counts(strings, variants),
    }
    return Synonyms(pairs.filter(served), variants, composition_queries(strings, sizes), counts)


def _titles(aliases: pl.DataFrame) -> pl.DataFrame:
    """Distinct cleaned training titles, the occupations that hold them, and those that train."""
    cleaned = pl.Series("title", [clean_title(title) for title in aliases["title"]], pl.String)
    occupation, trains = pl.col("occupation_id"), pl.col("split") == "train"
    return (
        aliases.with_columns(cleaned)
        .group_by("title", maintain_order=True)
        .agg(
            occupation.unique().sort().alias("occupation_ids"),
            occupation.filter(trains).unique().sort().alias("training_ids"),
        )
        .filter(pl.col("training_ids").list.len() > 0, pl.col("title") != "")
    )


def _pairs(passed: pl.DataFrame, manual: list[tuple[str, str]]) -> pl.DataFrame:
    """Both sources as schema `SYNONYMS`; manual pairs have no occupation and no contexts."""
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


def _normalized(titles: pl.Series) -> pl.Series:
    return pl.Series("normalized", [normalize_title(title) for title in titles], pl.String)


def main() -> None:
    """Run the stage on its files; rejected rows are written even if it fails."""
    params = load_params()
    ledger = Ledger()
    manual = read_synonyms(params.synonyms, ledger)
    write_frame(ledger.frame(), FOLDER / "rejected.parquet", REJECTED)
    require_few_refused(ledger, params.ingest.max_rejected_share)
    asked = [Path(f"data/{stage}/queries.parquet") for stage in ("split", "typos")]
    made = synonyms(
        read_frame(Path("data/split/aliases.parquet"), SPLIT_ALIASES),
        pl.concat([read_frame(path, QUERIES) for path in asked]),
        read_frame(Path("data/typos/variants.parquet"), VARIANTS),
        manual,
        params.synonyms,
        params.seed,
    )
    write_frame(made.synonyms, FOLDER / "synonyms.parquet", SYNONYMS)
    write_frame(made.variants, FOLDER / "variants.parquet", SYNONYM_VARIANTS)
    write_frame(made.queries, FOLDER / "queries.parquet", QUERIES)
    rejected = {"rows_read": sum(ledger.rows.values()), "rejected": ledger.reasons()}
    write_json({**made.counts, "manual_set": rejected}, FOLDER / "metrics.json")
    print(made.counts["titles"], made.counts["parts"])


if __name__ == "__main__":
    run(main)
