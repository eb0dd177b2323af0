"""Which of a week's titles a person is asked: those of the queue, or any.

In: a week's titles with the champion's answers (`stream.titles_of`). Out: some of them, as they
are normalized. The queue is that of `tasks/review`, its priorities and its variety, on inputs that
no earlier run answered.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import polars as pl

from models.repeatable.seeding import generator
from tasks.review.queued import chosen

QUEUE, RANDOM, NOTHING = "queue", "random", "nothing"
Embed = Callable[[list[str]], np.ndarray]


class Week(NamedTuple):
    """What may be chosen from; it holds no label.

    Attributes:
        titles: distinct, `normalized, cleaned, rows` and the columns of the champion's answers.
        embed: cleaned titles to the champion's embeddings of unit norm.
        seed: of what is drawn.
        number: of the week, from 1.
    """

    titles: pl.DataFrame
    embed: Embed
    seed: int
    number: int


def queued(week: Week, budget: int) -> list[str]:
    """Return the titles that are worth most, normalized, none nearly another."""
    names = week.titles["normalized"]
    hashes = [zlib.crc32(name.encode("utf-8", "surrogatepass")) for name in names]
    titles = week.titles.with_columns(
        pl.Series("hash", hashes, pl.UInt32),
        pl.col("answer").alias("occupation_id"),
        earlier_occupation_id=pl.lit(None, pl.String),
    )
    queue = chosen(titles, lambda some: week.embed(some["cleaned"].to_list()), budget)
    return queue["normalized"].to_list()


def drawn(week: Week, budget: int) -> list[str]:
    """Return titles of inputs that are drawn one by one; one that comes again is passed over."""
    rng = generator(week.seed, "loop", RANDOM, str(week.number))
    inputs = np.repeat(np.arange(len(week.titles)), week.titles["rows"].to_numpy())
    places = dict.fromkeys(rng.permutation(inputs).tolist())
    return week.titles[[*places][:budget]]["normalized"].to_list()


CHOICES: dict[str, Callable[[Week, int], list[str]]] = {QUEUE: queued, RANDOM: drawn}
ARMS = (NOTHING, RANDOM, QUEUE)
