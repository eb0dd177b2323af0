"""Figures of a retrained network, and of the answers that it changes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl

MARGINS = (0.02, 0.04)


class Figures:
    """Success@1 and MRR@10 of an arm, and the answers that it changes."""

    def __init__(
        self, occupations: Sequence[str], queried: pl.DataFrame, before: np.ndarray
    ) -> None:
        """Look up the labels; `before`: scores of the distinct titles, sorted, without training."""
        names = queried["normalized"].unique().sort().to_list()
        place = {name: row for row, name in enumerate(names)}
        self.row = np.array([place[name] for name in queried["normalized"]])
        code = {name: number for number, name in enumerate(occupations)}
        self.label = np.array([code.get(name, -1) for name in queried["occupation_id"]])
        per_title = pl.col("occupation_id")
        agreeing = (per_title.n_unique() == 1) & (pl.len() > 1)
        self.agreeing = queried.select(agreeing.over("normalized")).to_series().to_numpy()
        self.scores, self.best = before, before.argmax(axis=1)

    def __call__(self, after: np.ndarray) -> Iterator[tuple[str, dict[str, float]]]:
        """Yield the figures of the answers, and of rules that keep old ones."""
        best = after.argmax(axis=1)
        yield "", self.of(after, best)
        rows = np.arange(len(best))
        lead = after[rows, best] - after[rows, self.best]
        for margin in MARGINS:
            kept = np.where(lead > margin, best, self.best)
            yield f", new answer if ahead by {margin}", self.of(after, kept)
        both = after + self.scores
        yield ", scores of both", self.of(both, both.argmax(axis=1))

    def of(self, scores: np.ndarray, best: np.ndarray) -> dict[str, float]:
        """Return the figures of scores and first answers of the distinct titles."""
        top = np.argsort(-scores, axis=1, kind="stable")[self.row, :10] == self.label[:, None]
        ranks = np.where(top.any(axis=1), 1 / (1 + top.argmax(axis=1)), 0)
        was, right = (one[self.row] == self.label for one in (self.best, best))
        figures = {"success_at_1": right.mean(), "mrr_at_10": ranks.mean()}
        for name, part in (("", slice(None)), ("_agreeing", self.agreeing)):
            figures[f"mended{name}"] = (right & ~was)[part].sum() / max(1, (~was)[part].sum())
            figures[f"spoiled{name}"] = (~right & was)[part].sum() / max(1, was[part].sum())
        return figures
