"""Stage `typos`: misspelt variants of the training titles, and the Typos test.

In: `data/split/{titles,queries}.parquet`. Out: `data/typos/{variants,queries}.parquet`. A query
that normalizes to a title of the taxonomy is drawn again, and so is a variant that normalizes to
any query; after `max_draws` it is left out and counted. So is a variant that its title has already,
as it is written. Neculoiu et al. 2016, section 4.2, point 1.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import polars as pl

from models.reproducibility.seeding import generator
from models.text.titles import normalize_title
from tasks.io.command import print_counts, run
from tasks.io.frames import read_frame, write_frame, write_json
from tasks.io.schemas import QUERIES, TITLES, VARIANTS
from tasks.io.section import load, load_run
from tasks.io.title_readings import with_readings
from tasks.pipeline.augmentation.noise import corrupt_by_count, corrupt_by_rate, letters_by_language
from tasks.pipeline.typos.params import TyposParams

FOLDER = Path("data/typos")


class Typos(NamedTuple):
    """Variants for training, queries, and how many titles were left out of each."""

    variants: pl.DataFrame
    queries: pl.DataFrame
    left_out: dict[str, int]


def typos(titles: pl.DataFrame, queries: pl.DataFrame, params: TyposParams, seed: int) -> Typos:
    """Misspell the titles (schema `TITLES`) of the split `train`.

    No variant equals a string of `queries` (schema `QUERIES`), which are those of the other tests.
    """
    taxonomy = set(titles["normalized"])
    training = titles.filter(pl.col("split") == "train")
    letters = letters_by_language(training["title"].to_list(), training["language"].to_list())
    training = training.with_columns(letters=pl.Series(letters, dtype=pl.String))
    frames, left_out, refused = [], {}, set(taxonomy)
    sizes = {
        "test": params.test_titles or None,
        "valid": params.valid_titles,
        "gate": params.gate_titles,
    }
    for split, size in sizes.items():
        rng, chosen = generator(seed, "typos", split), training
        if size is not None:
            chosen = training.sample(min(size, len(training)), seed=int(rng.integers(2**31)))
        corrupt = partial(corrupt_by_count, share=params.test_share, rng=rng)
        drawn = draw_again(chosen, corrupt, refused, params.max_draws)
        frames.append(_queries(chosen, drawn, split))
        refused |= set(frames[-1]["normalized"])  # no string is a query of two splits
        left_out[f"{split}_queries"] = drawn.count(None)
    typo_queries = pl.concat(frames)
    taken = taxonomy | {*queries["normalized"], *typo_queries["normalized"]}
    draws = _variants(training, taken, params, seed)
    # distinct as written: two variants that read alike are two draws
    kept = with_readings(draws.drop_nulls().unique(maintain_order=True), "variant")
    variants = kept.select("title", variant="cleaned", normalized="normalized")
    left_out["variants"] = len(draws) - len(variants)
    return Typos(variants, typo_queries, left_out)


def draw_again(
    training: pl.DataFrame,
    corrupt: Callable[..., list[str]],
    forbidden: set[str],
    max_draws: int,
) -> list[str | None]:
    """Corrupt each title until it normalizes to something outside `forbidden` and not to nothing.

    `training` has the columns `title, letters`; `corrupt` takes both, the latter by its name.

    Returns:
        One string a title, in order; None where `max_draws` draws gave none.
    """
    titles, letters = training["title"].to_list(), training["letters"].to_list()
    results: list[str | None] = [None] * len(titles)
    pending = list(range(len(titles)))
    for _ in range(max_draws):
        if not pending:
            break
        typos = corrupt([titles[i] for i in pending], letters=[letters[i] for i in pending])
        for place, typo in zip(pending, typos, strict=True):
            if (normal := normalize_title(typo)) and normal not in forbidden:
                results[place] = typo
        pending = [i for i in pending if results[i] is None]
    return results


def _queries(titles: pl.DataFrame, drawn: list[str | None], split: str) -> pl.DataFrame:
    typos = titles.with_columns(raw_title=pl.Series(drawn, dtype=pl.String))
    return (
        with_readings(typos.drop_nulls("raw_title"))
        .with_columns(
            query_id=pl.format("typos-{}-{}", pl.lit(split), pl.int_range(pl.len())),
            test=pl.lit("typos"),
            split=pl.lit(split),
            source=pl.lit("typo"),
        )
        .select(list(QUERIES))
    )


def _variants(
    training: pl.DataFrame, taken: set[str], params: TyposParams, seed: int
) -> pl.DataFrame:
    rng = generator(seed, "typos", "variants")
    misspelt: list[str | None] = []
    corrupt = partial(
        corrupt_by_rate, substituted=params.substituted, deleted=params.deleted, rng=rng
    )
    for _ in range(params.variants):
        misspelt += draw_again(training, corrupt, taken, params.max_draws)
    schema = {"title": pl.String, "variant": pl.String}
    titles = training["title"].to_list()
    return pl.DataFrame({"title": titles * params.variants, "variant": misspelt}, schema=schema)


def main() -> None:
    """Run the stage on its files."""
    misspelt = typos(
        read_frame(Path("data/split/titles.parquet"), TITLES),
        read_frame(Path("data/split/queries.parquet"), QUERIES),
        load(TyposParams),
        load_run().seed,
    )
    write_frame(misspelt.variants, FOLDER / "variants.parquet", VARIANTS)
    write_frame(misspelt.queries, FOLDER / "queries.parquet", QUERIES)
    counts = {
        "variants": len(misspelt.variants),
        "queries": len(misspelt.queries),
        "left_out": misspelt.left_out,
    }
    write_json(counts, FOLDER / "metrics.json")
    print_counts(counts)


if __name__ == "__main__":
    run(main)
