"""Occupations left out, their titles as queries and documents, and pairs without any of them."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pyarrow as pa

from models.measures.metrics import pad_gold
from models.repeatable.seeding import generator
from tasks.files.frames import read_frame, write_frame
from tasks.files.schemas import STRINGS
from tasks.files.titles import normalized
from tasks.pairing.pair_blocks import PAIRS, read_blocks, write_blocks
from tasks.pairing.strings_table import number

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


def write_reduced(pairs: Path, left_out: LeftOut, folder: Path) -> dict[str, int]:
    """Write a folder of pairs without any string of the occupations, and count what stays.

    A string goes if it has one of the occupations, whatever its role, or is one of their titles
    normalized: a companion's title has occupations of its own. Pairs go with either string.

    Args:
        pairs: folder of a mix.
        left_out: what nothing may be learned from.
        folder: where `strings.parquet` and `pairs.parquet` are written.
    """
    strings = read_frame(pairs / "strings.parquet", STRINGS)
    stays = _stays(strings, left_out.occupations, left_out.normalized)
    rows = write_blocks(_reduced(pairs / "pairs.parquet", stays), folder / "pairs.parquet")
    kept = number(strings.filter(pl.Series(stays)))
    write_frame(kept, folder / "strings.parquet", STRINGS)
    return {"strings": len(kept), "pairs": rows.total()}


def _stays(
    strings: pl.DataFrame, occupations: Collection[str], names: Container[str]
) -> np.ndarray:
    owned = strings["occupation_ids"].to_list()
    readings = normalized(strings["title"])
    return np.array(
        [
            name not in names and not any(one in occupations for one in ids)
            for name, ids in zip(readings, owned, strict=True)
        ],
        bool,
    )


def _reduced(path: Path, stays: np.ndarray) -> Iterator[pa.Table]:
    """Yield the blocks of a pairs file with the ids of the strings that stay, counted anew."""
    new = (np.cumsum(stays) - 1).astype(np.uint32)
    for block in read_blocks(path):
        anchors, others = (block[name].to_numpy() for name in ("anchor_id", "other_id"))
        taken = stays[anchors] & stays[others]
        rest = block.filter(pa.array(taken))
        ids = [pa.array(new[side[taken]]) for side in (anchors, others)]
        yield pa.Table.from_arrays([*ids, rest["similar"], rest["source"]], schema=PAIRS)
