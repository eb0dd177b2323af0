"""What a network does in an earlier model's space: the values of Table 2 of Bhat et al. 2019."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from benchmarks.workspace import Exam
from models.answer.occupation_scores import best_scores
from models.answer.search import TITLES_AT_ONCE, Similarities
from models.measures.metrics import pad_gold, rank_gold, success_at_k
from models.network.embedding import embed_titles
from models.network.model_files import load_model

DEPTHS = (1, 2, 5, 10)
SUCCESS = tuple(f"success_at_{k}" for k in DEPTHS)
SIMILARITIES = ("nearest_if_right", "nearest_if_wrong", "gold_if_wrong")
"""The first three rows of the paper's Table 2."""
METRICS = {name: name for name in (*SUCCESS, *SIMILARITIES)}
"""Columns of `values`, named alike in the rows."""


def in_space(folder: Path, earlier: Path, titles: list[str]) -> Similarities:
    """Compare queries of the network in `folder` with titles as `earlier` stored them."""
    featurizer, encoder = load_model(folder)
    before, first = load_model(earlier)
    index = embed_titles(first, before, titles).T.contiguous()
    return lambda queries: (embed_titles(encoder, featurizer, list(queries)) @ index).numpy()


def values(similarities: Similarities, exam: Exam) -> pl.DataFrame:
    """Return `test`, `query_id` and the columns `METRICS` of all queries.

    success@k as in `tasks/evaluation/ranking.py`. A query is right if a gold occupation is among
    the nearest ones. `nearest_if_…` is the cosine to the nearest alias of all, `gold_if_wrong` to
    the nearest alias of a gold occupation; null where the query is of the other kind, or has no
    gold in the index.
    """
    blocks = []
    for block in exam.queries.iter_slices(TITLES_AT_ONCE):
        gold = pad_gold(exam.index.codes(block["occupation_ids"].to_list()))
        columns = _values(similarities(block["cleaned"].to_list()), gold, exam)
        blocks.append(block.select("test", "query_id").with_columns(**columns))
    return pl.concat(blocks)


def _values(cosines: np.ndarray, gold: np.ndarray, exam: Exam) -> dict[str, pl.Series]:
    reachable = (gold >= 0).any(axis=1)
    by_occupation = exam.params.evaluate.rule(cosines, exam.index.memberships)
    rank = rank_gold(by_occupation[reachable], gold[reachable])
    columns = {}
    for k in DEPTHS:
        hits = np.zeros(len(cosines))
        hits[reachable] = success_at_k(rank, k)
        columns[f"success_at_{k}"] = pl.Series(hits)
    right = columns["success_at_1"].to_numpy() > 0
    nearest = cosines.max(axis=1)
    closest = best_scores(cosines, exam.index.memberships)
    own = np.where(gold >= 0, np.take_along_axis(closest, np.maximum(gold, 0), 1), -np.inf).max(1)
    columns["nearest_if_right"] = _only(nearest, right)
    columns["nearest_if_wrong"] = _only(nearest, reachable & ~right)
    columns["gold_if_wrong"] = _only(own, reachable & ~right)
    return columns


def _only(numbers: np.ndarray, chosen: np.ndarray) -> pl.Series:
    return pl.Series(np.where(chosen, numbers, np.nan), dtype=pl.Float64).fill_nan(None)
