"""Stage `synonyms`: titles with a phrase exchanged for a synonym, and the Composition test.

In: titles and queries of `data/split/`, variants and queries of the earlier sources, and the manual
set. Out: `data/synonyms/{synonyms,variants,queries,rejected}.parquet` and counts. Neculoiu et al.
2016, section 4.2, point 2.

A generated title that normalizes to a title or an earlier query is left out; a misspelt variant of
an earlier stage is no query. The others are held out or train, each string on one side only: an
occupation with n of N strings gives floor or ceiling of n · m / N to a split of m strings. The gate
needs more queries (`docs/design/evaluation.md`), so it also queries titles with two exchanges, a
slice of their own. Gold is every occupation of a title that becomes the string.
"""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar, Literal, NamedTuple, Self

import numpy as np
import polars as pl
from pydantic import model_validator

from models.reproducibility import generator
from tasks.io.command import print_counts, run
from tasks.io.files import write_json
from tasks.io.frames import read_frame, write_frame
from tasks.io.mixes import earlier_queries, earlier_variants
from tasks.io.schemas import QUERIES, REJECTED, SPLITS, SYNONYM_VARIANTS, SYNONYMS, TITLES
from tasks.io.section import Count, Number, Section, Share, load, load_run, require_below
from tasks.pipeline.synonyms.substitution import substitute
from tasks.pipeline.synonyms.synonym_pairs import induce, read_synonyms
from tasks.tables.rejected import RejectedRows, require_few_refused

FOLDER = Path("data/synonyms")
LONGEST = 200  # characters of a title that is exchanged once more: networks read fewer


class SynonymsParams(Section):
    """Section `synonyms`: the manual set, the rules of induction, and the Composition test."""

    NAME: ClassVar[str] = "synonyms"
    reader: Literal["table", "thesaurus", "none"]
    folder: str
    file: str | list[str]
    columns: dict[str, str]
    max_shared_words: Count
    max_part_words: Count
    min_contexts: Count
    test_share: Share
    max_test: Number
    valid_titles: Number
    gate_titles: Number
    max_rejected_share: Share

    @model_validator(mode="after")
    def _files_are_in_the_folder(self) -> Self:
        require_below(self.folder, self.files, self.NAME)
        return self

    @property
    def files(self) -> list[str]:
        """Their names in the folder."""
        return [self.file] if isinstance(self.file, str) else self.file

    @property
    def paths(self) -> list[Path]:
        """The file or files."""
        return [Path(self.folder) / file for file in self.files]


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
    """Exchange phrases of the training titles; `queries` and `misspelt` are earlier stages'."""
    taxonomy, queried = set(titles["normalized"]), set(queries["normalized"])
    training = titles.filter(split="train")
    owned = training.explode("occupation_ids").rename({"occupation_ids": "occupation_id"})
    passed, rules = induce(owned, taxonomy, params.max_shared_words, params.max_part_words)
    # manual pairs have no occupation and no contexts
    by_hand = [(None, phrase, replacement, "manual", None) for phrase, replacement in manual]
    induced = passed.with_columns(kind=pl.lit("induced")).select(list(SYNONYMS))
    pairs = pl.concat([induced, pl.DataFrame(by_hand, schema=SYNONYMS, orient="row")])
    # all that the paper's rules make, because the stricter row is reported beside them
    generated = substitute(training, pairs)
    fresh = generated.filter(~pl.col("normalized").is_in(list(taxonomy | queried)))
    served = supported(params.min_contexts)
    strings = hold_out(fresh.filter(served), training, set(misspelt["normalized"]), params, seed)
    variants = _variants(fresh.filter(served), strings)
    taken = taxonomy | queried | set(misspelt["normalized"])
    twice = twice_exchanged(strings, pairs.filter(served), taken, params.gate_titles, seed)
    sizes = dict(titles.explode("occupation_ids").group_by("occupation_ids").len().iter_rows())
    counts = {
        "induction": induction_counts(rules, passed, fresh, params.min_contexts),
        "manual_pairs": len(manual),
        "titles": title_counts(generated.filter(served), taxonomy, queried),
        "parts": part_counts(strings, variants),
        "gate_queries_of_two_exchanges": len(twice),
    }
    queries = composition_queries(pl.concat([strings, twice]), sizes)
    return Synonyms(pairs.filter(served), variants, queries, counts)


def _variants(served: pl.DataFrame, strings: pl.DataFrame) -> pl.DataFrame:
    """Schema `SYNONYM_VARIANTS`; a string is named once a title, with the first of its pairs."""
    training = strings.filter(split="train").select("normalized", "variant")
    return (
        served.drop("variant")
        .join(training, on="normalized")
        .sort("title", "variant", "kind", "phrase", "replacement")
        .unique(["title", "variant"], keep="first", maintain_order=True)
        .select(list(SYNONYM_VARIANTS))
    )


def hold_out(
    exchanges: pl.DataFrame,
    titles: pl.DataFrame,
    trained_on: set[str],
    params: SynonymsParams,
    seed: int,
) -> pl.DataFrame:
    """Return generated titles, one a normalized string, each with its split.

    `exchanges`: `title, variant, phrase, replacement, normalized`; `titles`: `title,
    occupation_ids`; `trained_on`: normalized strings that are not held out. Out: `normalized,
    variant` (the first spelling), `occupation_ids` (of all its titles, sorted), `free` (not in
    `trained_on`), `split`, `seen`: whether a string of the split train has one of its pairs.
    """
    strings = (
        exchanges.join(titles, on="title", maintain_order="left")
        .group_by("normalized", maintain_order=True)
        .agg(pl.col("variant").first(), pl.col("occupation_ids").list.explode().unique().sort())
        .with_columns(free=~pl.col("normalized").is_in(list(trained_on)))
    )
    strings = draw_parts(strings, params, seed)
    either_way = pl.concat_list("phrase", "replacement").list.sort().list.join(" = ")
    seen_pairs = (
        exchanges.join(strings.select("normalized", drawn="split"), on="normalized")
        .with_columns(seen=(pl.col("drawn") == "train").any().over(either_way))
        .group_by("normalized")
        .agg(pl.col("seen").any())
    )
    return strings.join(seen_pairs, on="normalized", maintain_order="left")


def draw_parts(strings: pl.DataFrame, params: SynonymsParams, seed: int) -> pl.DataFrame:
    """Add the column `split`: `test`, `valid`, `gate`, and `train` for the rest.

    The test takes `test_share` of the strings that are `free` to be held out, `max_test` at most;
    valid and gate take `valid_titles` each of the rest, and no larger share than the test.
    """
    free = np.flatnonzero(strings["free"].to_numpy())
    # rounded, because 0.29 of 100 and the like end a hair below 29
    share = int(round(params.test_share * free.size, 9))
    homes = strings["occupation_ids"].list.first().rank("dense").to_numpy()[free]
    rng = generator(seed, "synonyms", "parts")
    left = free[np.lexsort((rng.random(free.size), homes))]
    split = np.full(len(strings), "train", dtype=object)
    for name, most in zip(SPLITS, (params.max_test, *[params.valid_titles] * 2), strict=True):
        taken = spread(left.size, min(share, most, left.size), rng)
        split[left[taken]] = name
        left = left[~taken]
    return strings.with_columns(split=pl.Series(split, dtype=pl.String))


def twice_exchanged(
    strings: pl.DataFrame, pairs: pl.DataFrame, taken: set[str], count: int, seed: int
) -> pl.DataFrame:
    """Exchange another phrase of titles that have one exchange, for `count` queries of the gate.

    `strings`: of `hold_out`, whose columns the result has, `seen` null; no query is in `taken`.
    """
    rng = generator(seed, "synonyms", "two_exchanges")
    owned = strings.select("occupation_ids", title="variant")
    owned = owned.filter(pl.col("title").str.len_chars() <= LONGEST)
    exchanged = substitute(owned, pairs).select("title", "variant", "normalized")
    exchanged = exchanged.with_columns(draw=pl.Series(rng.random(len(exchanged))))
    taken = taken | set(strings["normalized"])
    one_each = (
        exchanged.filter(~pl.col("normalized").is_in(list(taken)))
        .sort("draw")
        .join(owned, on="title", maintain_order="left")
        .group_by("normalized", maintain_order=True)
        .agg(
            pl.col("title", "variant", "draw").first(),
            pl.col("occupation_ids").list.explode().unique().sort(),
        )
        .unique("title", keep="first", maintain_order=True)
        .sort(pl.col("occupation_ids").list.first(), "draw")
    )
    size = min(count, len(one_each))
    return (
        one_each.filter(spread(len(one_each), size, rng))
        .with_columns(free=pl.lit(True), split=pl.lit("gate"), seen=pl.lit(None, pl.Boolean))
        .select(strings.columns)
    )


def composition_queries(strings: pl.DataFrame, sizes: dict[str, int]) -> pl.DataFrame:
    """Return the strings of test, valid and gate as `QUERIES`; `sizes`: of each occupation."""
    size = pl.element().replace_strict(sizes, return_dtype=pl.UInt32)
    return (
        pl.concat(strings.filter(split=split) for split in SPLITS)
        .with_columns(
            query_id=pl.format("composition-{}-{}", "split", pl.int_range(pl.len()).over("split")),
            test=pl.lit("composition"),
            raw_title="variant",
            cleaned="variant",
            occupation_size=pl.col("occupation_ids").list.eval(size).list.max(),
            source=pl.col("seen")
            .replace_strict({True: "pair_seen", False: "pair_unseen"}, return_dtype=pl.String)
            .fill_null("two_exchanges"),
        )
        .select(list(QUERIES))
    )


def spread(size: int, chosen: int, rng: np.random.Generator) -> np.ndarray:
    """Return a mask of `size`, `chosen` of it true, as evenly apart as whole numbers allow."""
    start = int(rng.integers(max(size, 1)))
    steps = (np.arange(size + 1) * chosen + start) // max(size, 1)
    return np.asarray(np.diff(steps) > 0)


def supported(min_contexts: int) -> pl.Expr:
    """Tell whether a pair holds: it is manual, or so many different shared words make it."""
    return (pl.col("kind") == "manual") | (pl.col("contexts") >= min_contexts)


def induction_counts(
    rules: dict[str, int], passed: pl.DataFrame, fresh: pl.DataFrame, min_contexts: int
) -> dict[str, object]:
    """Count candidates by rule, then pairs and titles at 1 (the paper), 2 and `min_contexts`."""
    induced = fresh.filter(kind="induced")
    rows = {}
    for least in sorted({1, 2, min_contexts}):
        accepted = passed.filter(pl.col("contexts") >= least)
        rows[str(least)] = {
            "too_few_contexts": len(passed) - len(accepted),
            "accepted": len(accepted),
            "titles": induced.filter(supported(least))["normalized"].n_unique(),
        }
    return {**rules, "at_min_contexts": rows}


def title_counts(
    generated: pl.DataFrame, taxonomy: set[str], queried: set[str]
) -> dict[str, dict[str, int]]:
    """Count normalized generated titles, left out (first reason) and kept, per kind and in all."""
    kinds = {kind: generated.filter(kind=kind) for kind in ("induced", "manual")}
    counts = {}
    for name, frame in {**kinds, "all": generated}.items():
        strings = set(frame["normalized"])
        counts[name] = {
            "generated": len(strings),
            "is_a_title": len(strings & taxonomy),
            "is_a_query": len((strings & queried) - taxonomy),
            "kept": len(strings - taxonomy - queried),
        }
    return counts


def part_counts(strings: pl.DataFrame, variants: pl.DataFrame) -> dict[str, dict[str, int]]:
    """Return titles per split, with rows for training and seen pairs for queries."""
    training = strings.filter(split="train")
    misspelt = len(training.filter(~pl.col("free")))
    train = {"titles": len(training), "rows": len(variants), "misspelt_title_so_no_query": misspelt}
    counts = {"train": train}
    for split in SPLITS:
        held = strings.filter(split=split)
        seen = int(held["seen"].sum())
        counts[split] = {"titles": len(held), "pair_seen": seen, "pair_unseen": len(held) - seen}
    return counts


def main() -> None:
    """Run the stage on its files; rejected rows are written even if it fails."""
    params, rejected_rows = load(SynonymsParams), RejectedRows()
    manual = read_synonyms(params.reader, params.paths, params.columns, rejected_rows)
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
