"""Training titles between superfluous words, and which of them cannot stand for their title."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import compress
from typing import NamedTuple

import numpy as np
import polars as pl

from tasks.io.title_readings import with_readings
from tasks.pipeline.augmentation.superfluous import Superfluous, pad
from tasks.pipeline.extra_words.contained_titles import contained_titles


class Padded(NamedTuple):
    """Schema `VARIANTS`, and how many were drawn and left out by each rule."""

    variants: pl.DataFrame
    counts: dict[str, int]


def padded_titles(
    titles: pl.DataFrame,
    learned: Superfluous,
    taken: Mapping[str, Collection[str]],
    copies: int,
    rng: np.random.Generator,
) -> Padded:
    """Pad every title `copies` times, or none where nothing was learned.

    Args:
        titles: schema `TITLES`; those that are punctuation alone are passed over.
        learned: the words to put around them.
        taken: normalized strings that no padded title may equal, under the name of the reason.
        copies: of each title, before any is left out.
        rng: of this use.

    Left out besides: what holds a longer title than its own ("nurse" between "the" and "manager of
    the ward", if "nurse manager" is a title), because it may stand for that one, and what a title
    has already.
    """
    named = dict(
        titles.select("title", "normalized").filter(pl.col("normalized") != "").iter_rows()
    )
    own = list(named) * (copies if learned.before else 0)
    drawn = pad(own, learned, rng) if own else []
    schema = {"title": pl.String, "variant": pl.String}
    padded = with_readings(pl.DataFrame({"title": own, "variant": drawn}, schema=schema), "variant")
    frame = padded.select("title", variant="cleaned", normalized="normalized")
    counts = {"drawn": len(frame)}
    for reason, strings in taken.items():
        taken_ones = [name in strings for name in frame["normalized"]]
        frame, counts[reason] = _without(frame, taken_ones)
    held = contained_titles(frame["normalized"].to_list(), set(named.values()))
    lengths = [len(named[title]) for title in frame["title"]]
    longer = [max(map(len, names), default=0) > n for names, n in zip(held, lengths, strict=True)]
    frame, counts["holds_a_longer_title"] = _without(frame, longer)
    distinct = frame.unique(maintain_order=True)
    return Padded(distinct, {**counts, "repeated": len(frame) - len(distinct)})


def _without(frame: pl.DataFrame, left_out: list[bool]) -> tuple[pl.DataFrame, int]:
    kept = list(compress(range(len(frame)), [not out for out in left_out]))
    return frame[kept], sum(left_out)
