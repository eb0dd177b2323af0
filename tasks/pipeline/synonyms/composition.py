"""The Composition test: generated titles held out, spread over the occupations in proportion.

Neculoiu et al. 2016, section 4.2, point 2, holds out 7,909 pairs "constructed in the same way".
Here the strings stand in the order of their occupations, drawn within each, and every so many-th
is taken: an occupation with n of N strings gives floor or ceiling of n · m / N to a part of m
strings. A string of several occupations stands with the first of its ids.

The gate needs more queries than could be spared of these (`docs/design/evaluation.md`), so it also
queries titles with two exchanges, from which no stage learns: at most one of each generated title.
They are harder, and a slice of their own. Gold is every occupation of a title that becomes the
string.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from models.reproducibility.seeding import generator
from tasks.io.schemas import QUERIES, SPLITS
from tasks.pipeline.synonyms.params import SynonymsParams
from tasks.pipeline.synonyms.substitution import substitute

LONGEST = 200
"""Characters of a title that is exchanged once more: networks read fewer, and a title that repeats
a phrase n times has n² strings of two exchanges."""


def hold_out(
    exchanges: pl.DataFrame,
    titles: pl.DataFrame,
    trained_on: set[str],
    params: SynonymsParams,
    seed: int,
) -> pl.DataFrame:
    """Return generated titles, one a normalized string, each with its split.

    `exchanges`: `title, variant, phrase, replacement, normalized: String`; `titles`: `title,
    occupation_ids: List(String)`, every title of `exchanges` once; `trained_on`: normalized strings
    that earlier stages train on: none of them is held out.

    Returns:
        `normalized, variant` (the first spelling), `occupation_ids` (sorted union over the titles),
        `free` (not in `trained_on`), `split`, and `seen`: whether a string of the split `train` has
        one of its pairs of phrases, in either direction.
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
    valid and gate take `valid_titles` each of the rest, and no larger share than the test. The
    `occupation_ids` of each row are sorted; other columns and the order stay.
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
    strings: pl.DataFrame, pairs: pl.DataFrame, taken: set[str], params: SynonymsParams, seed: int
) -> pl.DataFrame:
    """Exchange another phrase of titles that have one exchange, for `gate_titles` queries.

    `strings` are those of `hold_out`, whose columns the result has (`split` is `gate`, `seen`
    null); `pairs` has schema `SYNONYMS`; `taken` has further normalized strings that no query may
    be.
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
    size = min(params.gate_titles, len(one_each))
    return (
        one_each.filter(spread(len(one_each), size, rng))
        .with_columns(free=pl.lit(True), split=pl.lit("gate"), seen=pl.lit(None, pl.Boolean))
        .select(strings.columns)
    )


def composition_queries(strings: pl.DataFrame, sizes: dict[str, int]) -> pl.DataFrame:
    """Return the strings of the splits test, valid and gate as schema `QUERIES`.

    `strings` are those of `hold_out`, with a null `seen` where two pairs make a string; `sizes` has
    the number of titles of each occupation.
    """
    size = pl.element().replace_strict(sizes, return_dtype=pl.UInt32)
    return (
        pl.concat(strings.filter(pl.col("split") == split) for split in SPLITS)
        .with_columns(
            query_id=pl.format("composition-{}-{}", "split", pl.int_range(pl.len()).over("split")),
            test=pl.lit("composition"),
            raw_title="variant",
            cleaned="variant",
            occupation_size=pl.col("occupation_ids").list.eval(size).list.max(),
            source=pl.when(pl.col("seen").is_null())
            .then(pl.lit("two_exchanges"))
            .when("seen")
            .then(pl.lit("pair_seen"))
            .otherwise(pl.lit("pair_unseen")),
        )
        .select(list(QUERIES))
    )


def spread(size: int, chosen: int, rng: np.random.Generator) -> np.ndarray:
    """Mask of `size` places, `chosen` of them true and as evenly apart as whole numbers allow."""
    start = int(rng.integers(max(size, 1)))
    steps = (np.arange(size + 1) * chosen + start) // max(size, 1)
    mask: np.ndarray = np.diff(steps) > 0
    return mask
