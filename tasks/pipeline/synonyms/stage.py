"""Stage `synonyms`: titles with a phrase exchanged for a synonym, and the Composition test.

In: titles and queries of `data/split/`, variants and queries of `data/typos/`, and the manual set.
Out: `data/synonyms/{synonyms,variants,queries,rejected}.parquet` and counts. Neculoiu et al. 2016,
section 4.2, point 2.

Generated titles are compared normalized. A title of any occupation and split, or a query of an
earlier stage, is left out; a misspelt variant of an earlier stage is no query. The others are held
out (`composition.py`) or train, each string on one side only, in its first spelling.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import polars as pl

from tasks.io.command import print_counts, run
from tasks.io.frames import read_frame, write_frame, write_json
from tasks.io.mixes import earlier_queries, earlier_variants
from tasks.io.schemas import QUERIES, REJECTED, SYNONYM_VARIANTS, SYNONYMS, TITLES
from tasks.io.section import load, load_run
from tasks.pipeline.synonyms.composition import composition_queries, hold_out, twice_exchanged
from tasks.pipeline.synonyms.counts import induction_counts, part_counts, supported, title_counts
from tasks.pipeline.synonyms.induction import induce
from tasks.pipeline.synonyms.params import SynonymsParams
from tasks.pipeline.synonyms.reader import read_synonyms
from tasks.pipeline.synonyms.substitution import substitute
from tasks.tables.rejected import RejectedRows, require_few_refused

FOLDER = Path("data/synonyms")


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

    `titles`: schema `TITLES`; `queries`: schema `QUERIES`, the tests of earlier stages in all
    splits; `misspelt`: schema `VARIANTS`, the training variants of earlier stages; `manual`: pairs
    of normalized phrases.
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
    by_hand = [(None, phrase, replacement, "manual", None) for phrase, replacement in manual]
    induced = passed.with_columns(kind=pl.lit("induced")).select(list(SYNONYMS))
    return pl.concat([induced, pl.DataFrame(by_hand, schema=SYNONYMS, orient="row")])


def _variants(served: pl.DataFrame, strings: pl.DataFrame) -> pl.DataFrame:
    """Schema `SYNONYM_VARIANTS`; a string is named once a title, with the first of its pairs."""
    training = strings.filter(pl.col("split") == "train").select("normalized", "variant")
    return (
        served.drop("variant")
        .join(training, on="normalized")
        .sort("title", "variant", "kind", "phrase", "replacement")
        .unique(["title", "variant"], keep="first", maintain_order=True)
        .select(list(SYNONYM_VARIANTS))
    )


def main() -> None:
    """Run the stage on its files; rejected rows are written even if it fails."""
    params, rejected_rows = load(SynonymsParams), RejectedRows()
    manual = read_synonyms(params, rejected_rows)
    print(*rejected_rows.read_as(), sep="\n")
    write_frame(rejected_rows.frame(), FOLDER / "rejected.parquet", REJECTED)
    require_few_refused(rejected_rows, params.max_rejected_share, "synonyms")
    result = synonyms(
        read_frame(Path("data/split/titles.parquet"), TITLES),
        earlier_queries("synonyms"),
        earlier_variants("synonyms"),
        manual,
        params,
        load_run().seed,
    )
    write_frame(result.synonyms, FOLDER / "synonyms.parquet", SYNONYMS)
    write_frame(result.variants, FOLDER / "variants.parquet", SYNONYM_VARIANTS)
    write_frame(result.queries, FOLDER / "queries.parquet", QUERIES)
    rejected = {"rows_read": sum(rejected_rows.rows.values()), "rejected": rejected_rows.reasons()}
    write_json({**result.counts, "manual_set": rejected}, FOLDER / "metrics.json")
    print_counts({name: result.counts[name] for name in ("titles", "parts")})


if __name__ == "__main__":
    run(main)
