"""Occupations left out, their titles as queries and documents, and strings without any of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from models.measures.metrics import pad_gold
from models.repeatable.seeding import generator
from tasks.files.titles import normalized
from tasks.pairing.strings_table import NOISY

if TYPE_CHECKING:
    from jaxtyping import Int64


@dataclass(frozen=True)
class LeftOut:
    """Occupations, and all that is asked of them.

    Attributes:
        occupations: their ids.
        titles: their distinct cleaned titles, sorted by code points.
        normalized: of these.
        relevant: of each title the places of the others that share one of the occupations with it;
            −1 fills up, and is all that a title without such others has.
    """

    occupations: set[str]
    titles: list[str]
    normalized: set[str]
    relevant: Int64[np.ndarray, "title other"]


def leave_out(titles: pl.DataFrame, count: int, seed: int) -> LeftOut:
    """Draw occupations of two titles or more.

    Args:
        titles: schema `TITLES`, of all splits.
        count: of occupations.
        seed: of the pipeline.

    Raises:
        ValueError: there are fewer.
    """
    owned = titles.explode("occupation_ids").rename({"occupation_ids": "occupation_id"})
    sizes = owned.group_by("occupation_id").len().filter(pl.col("len") > 1)
    known = sizes["occupation_id"].sort().to_list()
    if count > len(known):
        raise ValueError(f"{count} occupations of {len(known)} with two titles: leave out fewer")
    rng = generator(seed, "unseen", "occupations")
    drawn = {known[place] for place in rng.choice(len(known), count, replace=False)}
    own = owned.filter(pl.col("occupation_id").is_in(drawn))
    distinct = sorted(set(own["title"]))
    place = {title: row for row, title in enumerate(distinct)}
    others: list[set[int]] = [set() for _ in distinct]
    for (group,) in own.group_by("occupation_id").agg("title").select("title").iter_rows():
        members = {place[title] for title in group}
        for row in members:
            others[row] |= members - {row}
    relevant = pad_gold([sorted(rows) for rows in others])
    return LeftOut(drawn, distinct, set(own["normalized"]), relevant)


def stays(strings: pl.DataFrame, left_out: LeftOut) -> np.ndarray:
    """Say of each string whether it may be learned from.

    A string goes if it has one of the occupations, whatever its role, or is one of their titles
    normalized: a companion's title has occupations of its own. Its noisy copies go, all of them:
    nothing says which title they are of.

    Args:
        strings: schema `STRINGS`.
        left_out: what nothing may be learned from.
    """
    owned, readings = strings["occupation_ids"].to_list(), normalized(strings["title"])
    return np.array(
        [
            role != NOISY
            and name not in left_out.normalized
            and left_out.occupations.isdisjoint(ids)
            for role, name, ids in zip(strings["role"], readings, owned, strict=True)
        ],
        bool,
    )
