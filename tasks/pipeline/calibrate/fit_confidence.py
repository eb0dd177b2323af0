"""Confidence fitted on validation queries, and which these are."""

from __future__ import annotations

import numpy as np
import polars as pl

from models.metrics.platt import fitted
from models.search.calibration import Calibration, Levels, logit
from models.search.exemplars import posterior
from models.search.index import AliasIndex
from models.search.ood_score import KNOWN
from models.search.search import Search

CALIBRATED_ON = ("annotations", "heldout_alias")
"""Tests whose validation queries confidence is fitted on: the first that has enough."""
ENOUGH = 50
"""Queries: a twentieth of fewer is hardly a query."""


def calibrate(
    search: Search,
    queries: pl.DataFrame,
    hierarchy: Levels,
    temperature: float,
    max_false_rejection_rate: float,
) -> Calibration:
    """Fit confidence at every level on queries with known occupations.

    `search` has its exemplars, `queries` (schema `QUERIES`, one at least) any number of correct
    occupations, `hierarchy` the index's occupations. At most `max_false_rejection_rate` of the
    queries are rejected as not job titles.
    """
    shares, correct, ood_scores = [], [], []
    titles = queries["cleaned"].to_list()
    for place, hits in search.blocks(titles, 1):
        answers = hits.occupations[:, 0]
        shares.append(hierarchy.shares(posterior(hits.scores, temperature), answers))
        gold = search.index.codes(queries[place]["occupation_ids"].to_list())
        correct += [
            hierarchy.agree(np.full(len(codes), answer), np.array(codes, np.int64)).any(axis=0)
            for answer, codes in zip(answers, gold, strict=True)
        ]
        ood_scores.append(search.ood_score(titles[place], hits.closest))
    of_level = zip(np.concatenate(shares).T, np.array(correct).T, strict=True)
    offsets, slopes = zip(*(fitted(logit(share), hit) for share, hit in of_level), strict=True)
    ood_threshold = (
        -float(np.quantile(-np.concatenate(ood_scores), max_false_rejection_rate))
        if max_false_rejection_rate
        else KNOWN
    )
    return Calibration(temperature, offsets, slopes, ood_threshold)


def calibration_queries(queries: pl.DataFrame) -> tuple[str, pl.DataFrame]:
    """Return the validation queries that confidence is fitted on, and their test; "" if too few."""
    for test in CALIBRATED_ON:
        rows = queries.filter(pl.col("test") == test)
        if len(rows) >= ENOUGH:
            return test, rows
    return "", queries.clear()


def levels(index: AliasIndex, occupations: pl.DataFrame) -> Levels:
    """Return the hierarchy above an index's occupations (schema `OCCUPATIONS`)."""
    codes = dict(occupations.select("occupation_id", "codes").iter_rows())
    return Levels.of([codes[name] for name in index.occupations])
