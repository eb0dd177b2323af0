"""Misspelt variants of the training titles, and the Typos test (stage 1's source and test).

In: `data/split/{aliases,queries}.parquet`. Out: `data/typos/variants.parquet` (title, typo) for
training and `data/typos/queries.parquet`. Neculoiu et al. 2016, section 4.2, point 1. A test
string that normalizes to a title of the taxonomy is drawn again, and so is a variant that
normalizes to any query; after `max_draws` it is left out and counted. So is a variant that a title
has already.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import polars as pl

from models.seeding import generator
from models.titles import clean_title, normalize_title
from tasks.command import run
from tasks.frames import read_frame, write_frame, write_json
from tasks.noise import corrupt_by_count, corrupt_by_rate, letters_of
from tasks.params import load_params
from tasks.schemas import QUERIES, SPLIT_ALIASES, VARIANTS
from tasks.sections import TyposParams

FOLDER = Path("data/typos")


class Typos(NamedTuple):
    """Variants for training, queries, and how many titles were left out of each."""

    variants: pl.DataFrame
    queries: pl.DataFrame
    left_out: dict[str, int]


def typos(aliases: pl.DataFrame, queries: pl.DataFrame, params: TyposParams, seed: int) -> Typos:
    """Misspell the titles of the split `train`.

    Args:
        aliases: schema `SPLIT_ALIASES`.
        queries: schema `QUERIES`, the other tests, whose strings no variant may equal.
        params: section `typos`.
        seed: the pipeline's seed.
    """
    taxonomy = {normalize_title(title) for title in aliases["title"]}
    titles = _titles(aliases)
    letters = letters_of(titles["title"].to_list())
    parts, left_out = [], {}
    for part, wanted in (
        ("test", None),
        ("valid", params.probe_titles),
        ("gate", params.probe_titles),
    ):
        rng = generator(seed, "typos", part)
        chosen = (
            titles
            if wanted is None
            else titles.sample(min(wanted, len(titles)), seed=int(rng.integers(2**31)))
        )
        corrupt = partial(corrupt_by_count, share=params.test_share, letters=letters, rng=rng)
        drawn = draw_again(chosen["title"].to_list(), corrupt, taxonomy, params.max_draws)
        parts.append(_queries(chosen, drawn, part))
        left_out[f"{part}_queries"] = drawn.count(None)
    found = pl.concat(parts)
    taken = taxonomy | {normalize_title(q) for q in [*queries["raw_title"], *found["raw_title"]]}
    noisy = _variants(titles["title"].to_list(), letters, taken, params, seed)
    variants = noisy.drop_nulls().unique(maintain_order=True)
    left_out["variants"] = len(noisy) - len(variants)
    return Typos(variants, found, left_out)


def draw_again(
    titles: Sequence[str],
    corrupt: Callable[[list[str]], list[str]],
    forbidden: set[str],
    max_draws: int,
) -> list[str | None]:
    """Corrupt each title until it normalizes to something outside `forbidden` and not to nothing.

    Returns:
        One string a title, in order; None where `max_draws` draws gave none.
    """
    results: list[str | None] = [None] * len(titles)
    pending = list(range(len(titles)))
    for _ in range(max_draws):
        if not pending:
            break
        for place, typo in zip(pending, corrupt([titles[i] for i in pending]), strict=True):
            if (normal := normalize_title(typo)) and normal not in forbidden:
                results[place] = typo
        pending = [i for i in pending if results[i] is None]
    return results


def _titles(aliases: pl.DataFrame) -> pl.DataFrame:
    """Distinct cleaned training titles with their occupations: `title, occupation_ids, size`."""
    sizes = pl.len().over("occupation_id").cast(pl.UInt32)
    train = aliases.with_columns(size=sizes).filter(pl.col("split") == "train")
    cleaned = pl.Series("title", [clean_title(title) for title in train["title"]], pl.String)
    return (
        train.with_columns(cleaned)
        .group_by("title", maintain_order=True)
        .agg(pl.col("occupation_id").unique().sort().alias("occupation_ids"), pl.col("size").max())
        .filter(pl.col("title") != "")
    )


def _queries(titles: pl.DataFrame, drawn: list[str | None], part: str) -> pl.DataFrame:
    return (
        titles.with_columns(raw_title=pl.Series(drawn, dtype=pl.String))
        .drop_nulls("raw_title")
        .select(
            query_id=pl.format("typos-{}-{}", pl.lit(part), pl.int_range(pl.len())),
            test=pl.lit("typos"),
            part=pl.lit(part),
            raw_title="raw_title",
            occupation_ids="occupation_ids",
            occupation_size="size",
            source=pl.lit("typo"),
        )
        .select(list(QUERIES))
    )


def _variants(
    titles: list[str], letters: str, taken: set[str], params: TyposParams, seed: int
) -> pl.DataFrame:
    rng = generator(seed, "typos", "variants")
    misspelt: list[str | None] = []
    for _ in range(params.variants):
        misspelt += draw_again(
            titles,
            lambda some: corrupt_by_rate(some, params.substituted, params.deleted, letters, rng),
            taken,
            params.max_draws,
        )
    return pl.DataFrame(
        {"title": titles * params.variants, "variant": misspelt}, schema=dict(VARIANTS)
    )


def main() -> None:
    """Run the stage on its files."""
    params = load_params()
    made = typos(
        read_frame(Path("data/split/aliases.parquet"), SPLIT_ALIASES),
        read_frame(Path("data/split/queries.parquet"), QUERIES),
        params.typos,
        params.seed,
    )
    write_frame(made.variants, FOLDER / "variants.parquet", VARIANTS)
    write_frame(made.queries, FOLDER / "queries.parquet", QUERIES)
    counts = {"variants": len(made.variants), "queries": len(made.queries)}
    write_json({**counts, "left_out": made.left_out}, FOLDER / "metrics.json")
    print(counts, "left out:", made.left_out)


if __name__ == "__main__":
    run(main)
