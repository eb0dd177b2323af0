"""Which titles to review: what a few answered titles of a job board bring to the others.

`python results/trials/review_queue.py PACKAGE` asks a model package, `artifacts/normalizer` of a
registered version. The titles of the board's even half are dealt in two. Of one part, n titles are
chosen and answered by their labels, which become exemplars; the inputs of the other part are
queried. Nothing is trained. Abstentions count as incorrect. Prints CSV.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from heapq import heapify, heappop, heappush
from pathlib import Path

import numpy as np
import polars as pl
from board import Board, Week, first_in_queue, random_titles

from benchmarks.studies.loop.stream import split_weeks, titles_of
from models.reproducibility.seeding import generator
from tasks.apps.review.title_coverage import Coverage
from tasks.release.model_package.reading import read_normalizer

COUNTS = (100, 300, 1000)
METRICS = ("success_at_1", "mrr_at_10")


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
