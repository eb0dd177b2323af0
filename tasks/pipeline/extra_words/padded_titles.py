"""Training titles between superfluous words, and which of them cannot stand for their title."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

import numpy as np
import polars as pl

from tasks.io.title_readings import with_readings, without
from tasks.pipeline.augmentation.superfluous import Superfluous, pad
from tasks.pipeline.extra_words.contained_titles import contained_titles


def padded_titles(
    titles: pl.DataFrame,
    words: Callable[[str], Superfluous],
    taken: Mapping[str, Collection[str]],
    copies: int,
    rng: np.random.Generator,
) -> tuple[pl.DataFrame, dict[str, int]]:
    """Pad every title (schema `TITLES`) `copies` times, with the `words` of its language if any.

    Returns schema `VARIANTS`, and how many were drawn and left out by each rule.

    Titles of punctuation alone are passed over. No padded title may equal a normalized string of
    `taken`, whose keys name the reasons. Also left out: a string that its title has already, and
    one that holds a longer title than its own ("nurse" between "the" and "manager of the ward", if
    "nurse manager" is a title), because it may stand for that one.
    """
    sound = titles.filter(pl.col("normalized") != "")
    named = dict(sound.select("title", "normalized").iter_rows())
    drawn = [pl.DataFrame(schema={"title": pl.String, "variant": pl.String})]
    for (language,), own in sound.group_by("language", maintain_order=True):
        if copies and (around := words(str(language))):
            copied = own["title"].to_list() * copies
            drawn.append(pl.DataFrame({"title": copied, "variant": pad(copied, around, rng)}))
    frame = with_readings(pl.concat(drawn), "variant").select(
        "title", variant="cleaned", normalized="normalized"
    )
    counts = {"drawn": len(frame)}
    for reason, strings in taken.items():
        free = without(frame, strings)
        counts[reason] = len(frame) - len(free)
        frame = free
    held = contained_titles(frame["normalized"].to_list(), set(named.values()))
    lengths = [len(named[title]) for title in frame["title"]]
    longer = [max(map(len, names), default=0) > n for names, n in zip(held, lengths, strict=True)]
    counts["holds_a_longer_title"] = sum(longer)
    frame = frame.filter(~pl.Series(longer, dtype=pl.Boolean))
    distinct = frame.unique(maintain_order=True)
    return distinct, {**counts, "repeated": len(frame) - len(distinct)}
