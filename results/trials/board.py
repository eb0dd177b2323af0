"""The titles of a job board's even half, what a model says of them, and two ways to choose some."""

from __future__ import annotations

import sys
import zlib
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import polars as pl

from benchmarks.job_board import read_halves
from benchmarks.workspace import data_folder
from models.normalizer.normalizer import Normalizer
from models.reproducibility.seeding import generator
from models.search.exemplars import Exemplars
from models.search.search import Hits
from tasks.apps.review.build_queue import chosen
from tasks.apps.review.candidates import pooled

DEPTH, AT_ONCE = 10, 128


class Board:
    """Distinct titles of the even half, and what the model says of each before any review."""

    def __init__(self, normalizer: Normalizer) -> None:
        """Ask the model; `inputs` get the columns of its answers."""
        self.normalizer, self.index = normalizer, normalizer.index
        inputs = read_halves(data_folder(), self.index, "even").queried
        inputs = inputs.filter(pl.col("normalized") != "")
        titles = inputs.unique("normalized", keep="first", maintain_order=True)
        self.row = {name: row for row, name in enumerate(titles["normalized"])}
        raw, scores, closest, self.abstained = titles["raw_title"].to_list(), [], [], []
        self.titles, reasons, _ = normalizer.validator(raw)
        for start in range(0, len(raw), AT_ONCE):
            some = self.titles[start : start + AT_ONCE]
            hits = normalizer.search(some, DEPTH)
            scores.append(hits.scores.copy())
            closest.append(hits.closest)
            decisions = normalizer.exact_match(some, hits)
            self.abstained.extend(normalizer.confidence.rejections(some, hits, decisions).tolist())
            print(f"{start:,} of {len(raw):,} titles", file=sys.stderr, flush=True)
        self.abstained = [a or b for a, b in zip(reasons, self.abstained, strict=True)]
        self.scores, self.closest = np.concatenate(scores), np.concatenate(closest)
        self.embeddings = normalizer.embed(self.titles)
        names = ["score", "score_margin", "confidence", "abstained", "reason"]
        answers = pl.DataFrame(normalizer.predict(raw).table.select([*names, "occupation_id"]))
        answered = answers.rename({"occupation_id": "answer"}).with_columns(
            pl.col(pl.Float64).fill_nan(None), titles["normalized"]
        )
        self.inputs = inputs.join(answered, on="normalized", how="left", maintain_order="left")

    def figures(self, queried: pl.DataFrame, chosen: pl.DataFrame, weight: float) -> np.ndarray:
        """Return success@1 and the reciprocal rank (or 0) of each queried input [input, 2].

        `chosen`: reviewed titles with their `label`, each an exemplar of this weight.
        """
        rows = np.array([self.row[name] for name in queried["normalized"].unique().sort()])
        own = np.array([self.row[name] for name in chosen["normalized"]], np.int64)
        named = {
            "title": [self.titles[row] for row in own],
            "occupation_id": chosen["label"].to_list(),
            "weight": [weight] * len(own),
        }
        exemplars = Exemplars.of(self.index, {}, named, self.normalizer.rule.temperature)
        place = {title: row for row, title in zip(own, named["title"], strict=True)}
        known = self.embeddings[[place[title] for title in exemplars.titles]]
        scores = exemplars(self.scores[rows], self.embeddings[rows] @ known.T)
        best = np.argsort(-scores, axis=1, kind="stable")[:, :DEPTH]
        hits = Hits(scores, best, np.zeros_like(best), self.closest[rows])
        self.normalizer.exact_match([self.titles[row] for row in rows], hits)
        code = {name: number for number, name in enumerate(self.index.occupations)}
        where = {row: place for place, row in enumerate(rows)}
        ranked = hits.occupations[[where[self.row[name]] for name in queried["normalized"]]]
        right = ranked == np.array([code[name] for name in queried["occupation_id"]])[:, None]
        answered = np.array([not self.abstained[self.row[one]] for one in queried["normalized"]])
        right &= answered[:, None]
        first = np.where(right.any(axis=1), right.argmax(axis=1), np.inf)
        return np.stack([right[:, 0], 1 / (1 + first)], axis=1)


class Week(NamedTuple):
    """The titles to choose from.

    Attributes:
        titles: distinct, `normalized, raw_title, cleaned, rows` and the columns of answers.
        embed: cleaned titles to the champion's embeddings of unit norm.
        temperature: of the champion's scores.
        seed: of random choices.
        number: of the week, from 1.
    """

    titles: pl.DataFrame
    embed: Callable[[list[str]], np.ndarray]
    temperature: float
    seed: int
    number: int


def first_in_queue(week: Week, budget: int) -> list[str]:
    """Return the normalized titles of the queue that `rolecall review` makes of the week."""
    names = week.titles["normalized"]
    hashes = [zlib.crc32(name.encode("utf-8", "surrogatepass")) for name in names]
    titles = week.titles.with_columns(
        pl.Series("hash", hashes, pl.UInt32),
        pl.col("answer").alias("occupation_id"),
        newest_rows="rows",
        earlier_occupation_id=pl.lit(None, pl.String),
    )
    pool = pooled([titles], budget)
    cleaned = week.titles.select("normalized", "cleaned")
    named = pool.join(cleaned, on="normalized", maintain_order="left")["cleaned"]
    embeddings = week.embed(named.to_list())
    return chosen(pool, embeddings, week.temperature, budget)["normalized"].to_list()


def random_titles(week: Week, budget: int) -> list[str]:
    """Return titles of inputs drawn one by one; repeated ones are skipped."""
    rng = generator(week.seed, "loop", "random", str(week.number))
    inputs = np.repeat(np.arange(len(week.titles)), week.titles["rows"].to_numpy())
    places = dict.fromkeys(rng.permutation(inputs).tolist())
    return week.titles[[*places][:budget]]["normalized"].to_list()
