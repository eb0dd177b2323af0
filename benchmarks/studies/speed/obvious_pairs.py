"""Two ways to make pairs that a user would write first; what `tasks.pairs` is timed against.

Both hold all their pairs in memory before anything is written. `python_loop` draws them one by
one; `polars_cross_join` joins the strings with themselves and samples the dissimilar ones.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator

import polars as pl
import pyarrow as pa

from tasks.pairing.pair_blocks import PAIRS
from tasks.pairs import PairsParams


def python_loop(strings: pl.DataFrame, pairs: int, params: PairsParams) -> Iterator[pa.Table]:
    """Yield `pairs` rows of the same kind and ratio as `base_pairs`, in one block."""
    draw = random.Random(1)
    occupations = [set(ids) for ids in strings["occupation_ids"]]
    members = defaultdict(list)
    for string, ids in enumerate(occupations):
        for occupation in ids:
            members[occupation].append(string)
    groups = [group for group in members.values() if len(group) > 1]
    rows: list[tuple[int, int, bool]] = []
    while len(rows) < pairs:
        anchor, other = draw.sample(draw.choice(groups), 2)
        rows.append((anchor, other, True))
        for _ in range(params.dissimilar_per_similar):
            stranger = draw.randrange(len(occupations))
            while occupations[anchor] & occupations[stranger]:
                stranger = draw.randrange(len(occupations))
            rows.append((anchor, stranger, False))
    columns = [list(column) for column in zip(*rows[:pairs], strict=True)]
    yield _table(pl.DataFrame(columns, schema=["anchor_id", "other_id", "similar"]))


def polars_cross_join(strings: pl.DataFrame, pairs: int, params: PairsParams) -> Iterator[pa.Table]:
    """Yield every similar pair there is and four dissimilar ones to each, at most `pairs` rows."""
    one = strings.select(anchor_id="string_id", anchor="occupation_ids")
    two = strings.select(other_id="string_id", other="occupation_ids")
    every = (
        one.join(two, how="cross")
        .filter(pl.col("anchor_id") != pl.col("other_id"))
        .with_columns(similar=pl.col("anchor").list.set_intersection("other").list.len() > 0)
    )
    alike = every.filter("similar")
    apart = every.filter(~pl.col("similar"))
    wanted = min(len(apart), params.dissimilar_per_similar * len(alike))
    yield _table(pl.concat([alike, apart.sample(wanted, seed=1)]).head(pairs))


def _table(rows: pl.DataFrame) -> pa.Table:
    named = rows.select("anchor_id", "other_id", "similar", source=pl.lit("base"))
    return named.to_arrow().cast(PAIRS)
