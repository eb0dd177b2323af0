"""What a network does in the space of an earlier model: Table 2 and Figure 2 of Bhat et al. 2019.

Queries are looked up among alias embeddings: those that the earlier model stored, or the network's
own. The paper ranks by von Mises-Fisher density where that was the loss; log C(‖û‖) + ûᵀu is in the
order of ûᵀu for unit targets u, and so in that of the cosine, by which all are ranked here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import polars as pl
import torch

from benchmarks.network_asked import Asked
from benchmarks.network_speed import Work, alternate
from benchmarks.network_training import Place, start
from benchmarks.results_file import Row
from models.embedding import embed_titles
from models.metrics import pad_gold, rank_gold, success_at_k
from models.model_files import load_model
from models.occupation_scores import best_scores
from models.run import TrainSettings
from models.title_run import TitleRun
from tasks.alias_index import Similarities
from tasks.ranking import BLOCK, occupation_scores
from tasks.systems import network

DEPTHS = (1, 2, 5, 10)
SUCCESS = tuple(f"success_at_{k}" for k in DEPTHS)
SIMILARITIES = ("nearest_if_right", "nearest_if_wrong", "gold_if_wrong")
"""The first three rows of the paper's Table 2."""
METRICS = {name: name for name in (*SUCCESS, *SIMILARITIES)}
"""Columns of `values`, named alike in the rows."""
STEPS = 3  # updates of a repeat
TIMES = 20  # losses of a repeat


def in_space(folder: Path, earlier: Path, titles: list[str]) -> Similarities:
    """The queries of the network in `folder` among titles as the model in `earlier` stored them."""
    featurizer, encoder = load_model(folder)
    before, first = load_model(earlier)
    index = embed_titles(first, before, titles).T.contiguous()
    return lambda queries: (embed_titles(encoder, featurizer, list(queries)) @ index).numpy()


def in_own_space(folder: Path, titles: list[str]) -> Similarities:
    """The same among titles embedded anew."""
    return network(*load_model(folder), titles)


def values(similarities: Similarities, asked: Asked) -> pl.DataFrame:
    """`test`, `query_id` and the columns `METRICS` of all queries.

    success@k as in `tasks/ranking.py`. A query is right if a gold occupation is among the nearest
    ones. `nearest_if_…` is the cosine to the nearest alias of all, `gold_if_wrong` to the nearest
    alias of a gold occupation; null where the query is of the other kind, or has no gold in the
    index.
    """
    blocks = []
    for block in asked.queries.iter_slices(BLOCK):
        found = similarities(block["raw_title"].to_list())
        columns = _values(
            found, pad_gold(asked.index.codes(block["occupation_ids"].to_list())), asked
        )
        blocks.append(block.select("test", "query_id").with_columns(**columns))
    return pl.concat(blocks)


def _values(found: np.ndarray, gold: np.ndarray, asked: Asked) -> dict[str, pl.Series]:
    reachable = (gold >= 0).any(axis=1)
    by_occupation = occupation_scores(found, asked.index, asked.params.evaluate)
    rank = rank_gold(by_occupation[reachable], gold[reachable])
    columns = {}
    for k in DEPTHS:
        hits = np.zeros(len(found))
        hits[reachable] = success_at_k(rank, k)
        columns[f"success_at_{k}"] = pl.Series(hits)
    right = columns["success_at_1"].to_numpy() > 0
    nearest = found.max(axis=1)
    closest = best_scores(found, asked.index.memberships)
    own = np.where(gold >= 0, np.take_along_axis(closest, np.maximum(gold, 0), 1), -np.inf).max(1)
    columns["nearest_if_right"] = _only(nearest, right)
    columns["nearest_if_wrong"] = _only(nearest, reachable & ~right)
    columns["gold_if_wrong"] = _only(own, reachable & ~right)
    return columns


def _only(numbers: np.ndarray, chosen: np.ndarray) -> pl.Series:
    return pl.Series(np.where(chosen, numbers, np.nan), dtype=pl.Float64).fill_nan(None)


def speeds(systems: Mapping[str, TrainSettings], place: Place, repeats: int) -> Iterator[Row]:
    """Similar pairs a second of each loss alone and of whole updates, all in turn."""
    runs = {system: start(settings, place).run for system, settings in systems.items()}
    works = [_loss_alone(system, run) for system, run in runs.items()]
    works += [_updates(system, run) for system, run in runs.items()]
    for speed in alternate(works, repeats):
        row = speed._asdict()
        yield row | {"n": row.pop("repeats")}


def _loss_alone(system: str, run: TitleRun) -> Work:
    """The loss and its gradient at the embeddings of a batch; the encoder does nothing."""
    rows, batch = run.batch(0)
    with torch.no_grad():
        embeddings = run.encoder(*run.strings.batch(rows))

    def losses() -> float:
        for _ in range(TIMES):
            leaf = embeddings.clone().requires_grad_()
            run.loss(leaf, batch, run.settings.loss).total.backward()  # type: ignore[no-untyped-call]
        return float(TIMES * len(run.similar_rows(0)))

    return Work(system, "loss_alone", "examples_per_second", losses)


def _updates(system: str, run: TitleRun) -> Work:
    def update() -> float:
        for step in range(STEPS):
            run.step(step)
        return float(STEPS * len(run.similar_rows(0)))

    return Work(system, "training", "examples_per_second", update)
