"""More queries for the gate's Composition test: titles with two exchanges, which nothing trains on.

Every generated title has one exchange and is wanted for training; the gate asks for more queries
than could be spared of them (`docs/DESIGN.md`, "The gate"). A second exchange gives strings that no
stage learns from, so that they cost no training. They are harder, and a slice of their own. One
comes from each generated title at most, spread over the occupations as the test is. Gold is every
occupation of a title that becomes the string.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from models.reproducibility.seeding import generator
from tasks.pipeline.synonyms.composition import spread
from tasks.pipeline.synonyms.substitution import substitute

if TYPE_CHECKING:
    from tasks.pipeline.synonyms.params import SynonymsParams

LONGEST = 200
"""Characters of a title that is exchanged once more: networks read fewer, and a title that repeats
a phrase n times has n² strings of two exchanges."""


def twice_exchanged(
    strings: pl.DataFrame,
    pairs: pl.DataFrame,
    taken: set[str],
    params: SynonymsParams,
    seed: int,
) -> pl.DataFrame:
    """Exchange a phrase of titles that have one exchange already; `gate_titles` of them at most.

    Args:
        strings: titles with one exchange, as `hold_out` returns them.
        pairs: schema `SYNONYMS`.
        taken: normalized strings that no query may be, besides `strings`.
        params: section `synonyms`.
        seed: the pipeline's seed.

    Returns:
        The same columns as `strings`: `split` is `gate`, `seen` null.
    """
    rng = generator(seed, "synonyms", "two_exchanges")
    owned = strings.select("occupation_ids", title="variant")
    owned = owned.filter(pl.col("title").str.len_chars() <= LONGEST)
    made = substitute(owned, pairs).select("title", "variant", "normalized")
    made = made.with_columns(draw=pl.Series(rng.random(len(made))))
    taken = taken | set(strings["normalized"])
    one_each = (
        made.filter(~pl.col("normalized").is_in(list(taken)))
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
    wanted = min(params.gate_titles, len(one_each))
    return (
        one_each.filter(spread(len(one_each), wanted, rng))
        .with_columns(free=pl.lit(True), split=pl.lit("gate"), seen=pl.lit(None, pl.Boolean))
        .select(strings.columns)
    )
