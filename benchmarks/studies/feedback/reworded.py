"""Rewordings of titles that keep their meaning, or nearly: the same words seen another way.

Four kinds: a `typo` (some characters changed), `extra_words` (superfluous words in front, behind
or both, as learned from real inputs), `word_order` (the same words in another order) and
`word_left_out` (all but one). Equal seeds give equal rewordings.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import polars as pl

from models.repeatable.seeding import generator
from models.text.titles import normalize_title
from tasks.augment.noise import corrupt_by_count, letters_of
from tasks.augment.superfluous import Superfluous, pad
from tasks.files.frames import Schema
from tasks.files.schemas import VARIANTS
from tasks.files.titles import with_readings

REWORDED: Schema = {**VARIANTS, "kind": pl.String}
KINDS = ("typo", "extra_words", "word_order", "word_left_out")
FEWEST_WORDS = 3
"""Of a title that a word is left out of: of two words, each may be all there is to it."""


def reworded(
    titles: Sequence[str], learned: Superfluous, typo_share: float, seed: int
) -> pl.DataFrame:
    """Return every title once in each kind that it has: schema `REWORDED`, kind by kind.

    A title of one word, or of one word repeated, has no other order; one of fewer than three loses
    none; without learned words none are added. What normalizes to the title itself is left out.
    """
    ways: dict[str, Callable[[np.random.Generator], Sequence[str | None]]] = {
        "typo": lambda rng: corrupt_by_count(titles, typo_share, letters_of(titles), rng),
        "extra_words": lambda rng: pad(titles, learned, rng) if learned.before else [],
        "word_order": lambda rng: [other_order(title, rng) for title in titles],
        "word_left_out": lambda rng: [one_left_out(title, rng) for title in titles],
    }
    rows = [
        (title, variant, kind)
        for kind in KINDS
        for title, variant in zip(
            titles, ways[kind](generator(seed, "reworded", kind)), strict=False
        )
        if variant is not None and normalize_title(variant) not in ("", normalize_title(title))
    ]
    columns = dict.fromkeys(("title", "variant", "kind"), pl.String)
    frame = pl.DataFrame(rows, schema=columns, orient="row")
    return with_readings(frame, "variant").select(list(REWORDED))


def other_order(title: str, rng: np.random.Generator) -> str | None:
    """Return the words of `title` in a random order that is not theirs; None if there is none."""
    words = title.split()
    if len(set(words)) < 2:
        return None
    drawn = [words[place] for place in rng.permutation(len(words))]
    return " ".join(drawn if drawn != words else words[1:] + words[:1])


def one_left_out(title: str, rng: np.random.Generator) -> str | None:
    """Return `title` without a random one of its words; None if it has fewer than three."""
    words = title.split()
    if len(words) < FEWEST_WORDS:
        return None
    place = int(rng.integers(len(words)))
    return " ".join(words[:place] + words[place + 1 :])
