"""Which titles to review: what a few answered titles of a job board bring to the others.

`python results/trials/review_queue.py PACKAGE` asks a model package, `artifacts/normalizer` of a
registered version. The titles of the board's even half are dealt in two. Of one part, n titles are
chosen and answered by their labels, which become exemplars; the inputs of the other part are
queried. Nothing is trained. Abstentions count as incorrect. Prints CSV.
"""

from __future__ import annotations

import argparse
import sys
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from heapq import heapify, heappop, heappush
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

from benchmarks.job_board import read_halves
from benchmarks.studies.loop.stream import split_weeks, titles_of
from benchmarks.workspace import data_folder
from models.normalizer.normalizer import Normalizer
from models.reproducibility.seeding import generator
from models.search.exemplars import Exemplars
from models.search.search import Hits
from tasks.apps.review.build_queue import chosen
from tasks.apps.review.candidates import pooled
from tasks.apps.review.title_coverage import Coverage
from tasks.release.model_package.reading import read_normalizer

DEPTH, AT_ONCE = 10, 128
COUNTS = (100, 300, 1000)
METRICS = ("success_at_1", "mrr_at_10")


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


class Pool:
    """Titles to choose from, and ways to choose so many of them.

    `titles` has the columns of the model's answers, `normalized, cleaned` and `rows`.
    """

    def __init__(self, board: Board, titles: pl.DataFrame, deal: int) -> None:
        """Look up what the model says of the titles."""
        self.titles, self.deal = titles, deal
        self.names, self.rows = titles["normalized"].to_numpy(), titles["rows"].to_numpy()
        self.wrong = 1 - titles["confidence"].fill_null(0.5).to_numpy()
        self.score = titles["score"].fill_null(0.5).to_numpy()
        self.order = generator(deal, "review_queue").permutation(len(titles))
        self.embeddings = board.embeddings[[board.row[name] for name in self.names]]
        self.temperature = board.normalizer.rule.temperature

    def arms(self) -> Iterator[tuple[str, Callable[[int], list[str]]]]:
        """Yield the name of each way and the normalized titles that it chooses."""
        mass = self.wrong * self.rows
        yield "nothing", lambda count: []
        for draw in (1, 2, 3):
            yield f"random rows {draw}", partial(random_titles, self.week(draw))
        yield "random titles", partial(self.highest, np.zeros(len(mass)))
        yield "frequency", partial(self.highest, self.rows)
        yield "uncertainty", partial(self.highest, self.wrong)
        yield "uncertainty x frequency", partial(self.highest, mass)
        yield "queue of f3bf4a5", self.earlier_queue
        yield "coverage by the closest", partial(self.closest, mass)
        yield "the same without confidence", partial(self.closest, self.rows * 1.0)
        yield "coverage by shares of votes", partial(self.shares, mass)
        yield "shares without confidence", partial(self.shares, self.rows * 1.0)
        yield "queue (shares and a fifth of random rows)", partial(first_in_queue, self.week(1))

    def week(self, draw: int) -> Week:
        """Return what the queue chooses from."""
        place = {name: row for row, name in enumerate(self.titles["cleaned"])}

        def embed(names: list[str]) -> np.ndarray:
            return self.embeddings[[place[name] for name in names]]

        return Week(self.titles, embed, self.temperature, self.deal, draw)

    def highest(self, values: np.ndarray, count: int) -> list[str]:
        """Choose the highest values, of equal ones at random."""
        best = self.order[np.argsort(-values[self.order], kind="stable")]
        return self.names[best[:count]].tolist()

    def shares(self, weights: np.ndarray, count: int) -> list[str]:
        """Choose as `rolecall review` does, without random rows."""
        heavy = np.argsort(-weights, kind="stable")
        columns = (column[heavy].astype(np.float32) for column in (self.score, weights))
        titles = Coverage(self.embeddings[heavy], *columns, self.temperature)
        return self.names[heavy[titles(self.embeddings[:0], count).places]].tolist()

    def closest(self, weights: np.ndarray, count: int) -> list[str]:
        """Choose greedily by the sum of weight and exp((cosine - 1) / .1) to the closest one."""
        kernel = np.exp(np.minimum(self.embeddings @ self.embeddings.T - 1, 0) / 0.1)
        covered, chosen = np.zeros(len(weights), np.float32), []
        bounds = [(-float(weights @ own), place, 0) for place, own in enumerate(kernel)]
        heapify(bounds)
        while len(chosen) < count:
            _, place, computed = heappop(bounds)
            if computed == len(chosen):
                chosen.append(place)
                covered = np.maximum(covered, kernel[place])
            else:
                gain = float(weights @ np.maximum(kernel[place] - covered, 0))
                heappush(bounds, (-gain, place, len(chosen)))
        return self.names[chosen].tolist()

    def earlier_queue(self, count: int) -> list[str]:
        """Choose as `rolecall review` did: none like another, a twentieth of an occupation."""
        margin = self.titles["score_margin"].fill_null(0.1).to_numpy()
        doubt = 1 + np.clip(1 - margin / 0.1, 0, 1) + np.clip(1 - self.score, 0, 1)
        priority, queue, spared = self.wrong * self.rows * doubt, [], []
        taken: Counter[str | None] = Counter()
        answers = self.titles["answer"].to_list()
        for place in self.order[np.argsort(-priority[self.order], kind="stable")][: 20 * count]:
            if len(queue) < count and self._is_unlike(place, queue):
                full = taken[answers[place]] >= max(2, count // 20)
                (spared if full else queue).append(place)
                taken[answers[place]] += 1
        for place in spared:
            if len(queue) < count and self._is_unlike(place, queue):
                queue.append(place)
        return self.names[queue].tolist()

    def _is_unlike(self, place: int, queue: list[int]) -> bool:
        return bool((self.embeddings[queue] @ self.embeddings[place] < 0.9).all())


def main() -> None:
    """Print the figures of every deal, arm and number of reviewed titles."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("package", type=Path)
    parser.add_argument("--deals", type=int, nargs="+", default=[1, 2, 3, 4])
    parser.add_argument("--weight", type=float, default=0.3, help="of an exemplar; an alias has 1")
    options = parser.parse_args()
    board = Board(read_normalizer(options.package))
    print("deal,chosen_by,reviewed,metric,n,value")
    for deal in options.deals:
        dealt, queried = split_weeks(board.inputs, 2, deal)
        titles = titles_of(dealt)
        for arm, choose in Pool(board, titles, deal).arms():
            for count in COUNTS if arm != "nothing" else (0,):
                chosen = titles.filter(pl.col("normalized").is_in(choose(count)))
                values = board.figures(queried, chosen, options.weight).mean(axis=0)
                for metric, value in zip(METRICS, values, strict=True):
                    row = (deal, arm, len(chosen), metric, len(queried), f"{value:.4f}")
                    print(*row, sep=",", flush=True)


if __name__ == "__main__":
    main()
