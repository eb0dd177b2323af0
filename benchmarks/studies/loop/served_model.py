"""A model package that answers inputs and the gate's queries."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from models.normalizer.normalizer import Normalizer
from models.search.index import AliasIndex
from tasks.evaluation.ranking import rank_queries
from tasks.io.frames import Schema
from tasks.io.schemas import SCORES
from tasks.release.gate.gate_figures import SystemResults, by_test

QUERY = ["test", "query_id"]
ANSWER: Schema = {
    "answer": pl.String,
    "matched_title": pl.String,
    "score": pl.Float64,
    "score_margin": pl.Float64,
    "confidence": pl.Float64,
    "abstained": pl.Boolean,
    "reason": pl.String,
}
"""Columns of an answer beside its input."""


class ServedModel:
    """The model package in a folder, and its answers to the gate so far."""

    def __init__(self, folder: Path, same: ServedModel | None = None) -> None:
        """Read a model package; `same` has the same network and exemplars, thus the same scores."""
        from tasks.release.model_package.reading import read_normalizer  # onnxruntime takes seconds

        self.folder = folder
        self.normalizer: Normalizer = read_normalizer(folder)
        empty = pl.DataFrame(schema=dict(SCORES))
        self._scores: pl.DataFrame = same._scores if same else empty

    def answers(self, inputs: pl.DataFrame) -> pl.DataFrame:
        """Return `inputs` (`raw_title`) with the columns `ANSWER`."""
        columns = self.normalizer.predict(inputs["raw_title"].to_list()).columns
        values = {name: columns[name].tolist() for name in ANSWER if name in columns}
        values["answer"] = columns["occupation_id"].tolist()
        series = [pl.Series(name, values[name], kind) for name, kind in dict(ANSWER).items()]
        return inputs.with_columns(series).with_columns(pl.col(pl.Float64).fill_nan(None))

    def scores(self, queries: pl.DataFrame, index: AliasIndex) -> pl.DataFrame:
        """Return schema `SCORES` of the gate's queries, without exact matches."""
        new = queries.join(self._scores, on=QUERY, how="anti")
        if len(new):
            search = self.normalizer.within(index)
            self._scores = pl.concat([self._scores, rank_queries("gate", search, new, 1)[0]])
        return queries.select(QUERY).join(self._scores, on=QUERY, maintain_order="left")


def gate_results(
    challenger: ServedModel, champion: ServedModel, queries: pl.DataFrame, index: AliasIndex
) -> dict[str, SystemResults]:
    """Return both models' answers to the gate's queries.

    The n-gram matcher does not count in a decision, so the champion stands for it.
    """
    systems = {"challenger": challenger, "opponent": champion, "ngram": champion}
    scores = [
        own.scores(queries, index).with_columns(system=pl.lit(name))
        for name, own in systems.items()
    ]
    return by_test(pl.concat(scores))
