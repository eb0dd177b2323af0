"""The loss of two-stage search: answers as served, beside those of the exact search."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import polars as pl

from benchmarks.job_board import read_halves
from benchmarks.query_figures import UNSEEDED, figures, gains
from benchmarks.results import Row
from benchmarks.workspace import Workspace, data_folder
from models.normalizer.normalizer import Normalizer

TEST, RIGHT = "vacancies", "right"
EXACT = "_exact"
"""Behind the name of a model that searches exactly."""


def deviations(system: str, served: Normalizer, workspace: Workspace) -> Iterator[Row]:
    """Ask a served model the even half of the vacancy titles, with either search."""
    queries = read_halves(data_folder(), served.index, "even").queried
    raw_titles = queries["raw_title"].to_list()
    print(f"{system}: {len(queries):,} vacancy titles, by both searches", flush=True)
    names = (system, f"{system}{EXACT}")
    models = (served, exactly(served))
    answers = [pl.DataFrame(pl.from_arrow(model.predict(raw_titles).table)) for model in models]
    frames = {}
    for name, answer in zip(names, answers, strict=True):
        right = answer["occupation_id"].eq_missing(queries["occupation_id"]).cast(float)
        test = queries.select("query_id", test=pl.lit(TEST))
        frames[name] = {UNSEEDED: test.with_columns(right.alias(RIGHT))}
        yield from figures(name, frames[name], {RIGHT: "success_at_1"}, workspace.params)
    own, other = (frames[name] for name in names)
    pair, params = "-".join(names), workspace.params
    yield from gains(pair, own, other, "gain_success_at_1", params, column=RIGHT)
    ours, exact = answers
    for metric, column in (
        ("other_first", "occupation_id"),
        ("other_top_five", "top_occupation_ids"),
    ):
        changed = ours[column].ne_missing(exact[column]).to_numpy()
        yield Row(system, TEST, metric, float(changed.mean()), len(changed))
    change = (ours["confidence"] - exact["confidence"]).abs().drop_nulls().to_numpy()
    if len(change):
        last = float(np.quantile(change, 0.99))
        yield Row(system, TEST, "confidence_change", float(change.mean()), len(change))
        yield Row(system, TEST, "confidence_change_99th_percentile", last, len(change))


def exactly(served: Normalizer) -> Normalizer:
    """Return a model that scores every occupation in full."""
    made = replace(served)
    vars(made)["two_stage_search"] = None  # in the place of the cached one
    return made
