"""Figures and gains over seeds, against values worked out by hand."""

from __future__ import annotations

import polars as pl
import pytest
from toy_workspace import PARAMS

from benchmarks.query_figures import figures, gains, pooled
from models.measures.crossed import crossed_interval
from tasks.params.whole import load_params

BEFORE = {1: (0, 0, 1, 1), 2: (0, 0, 0, 1), 3: (0, 0, 0, 0)}
AFTER = {1: (1, 0, 1, 1), 2: (1, 1, 0, 1), 3: (1, 1, 1, 0)}


def answered(*hits: float) -> pl.DataFrame:
    queries = [str(number) for number in range(len(hits))]
    return pl.DataFrame({"query_id": queries, "success_at_1": hits}).with_columns(
        pl.lit("typos").alias("test"), pl.col("success_at_1").cast(pl.Float64)
    )


def test_figures_of_each_seed_and_of_their_mean() -> None:
    answers = {seed: answered(*hits) for seed, hits in AFTER.items()}
    rows = list(figures("x", answers, {"success_at_1": "success_at_1"}, load_params(PARAMS)))
    assert [(row.seed, row.value, row.n) for row in rows] == [
        *((seed, 0.75, 4) for seed in (1, 2, 3)),
        (None, pytest.approx(0.75), 4),
    ]
    assert pooled(answers)["success_at_1"].to_list() == pytest.approx([1, 2 / 3, 2 / 3, 2 / 3])


def test_a_gain_holds_seeds_and_queries() -> None:
    """Gains .25, .5, .75 of the seeds; the interval is that of both, and wider than 0 to 1."""
    before, after = (
        {seed: answered(*hits) for seed, hits in side.items()} for side in (BEFORE, AFTER)
    )
    (row,) = gains("x", after, before, "gain_over_3", load_params(PARAMS))
    assert (row.value, row.n, row.seed) == (pytest.approx(0.5), 4, None)
    differences = pl.DataFrame({str(seed): AFTER[seed] for seed in AFTER}).to_numpy().T
    differences = differences - pl.DataFrame({str(s): BEFORE[s] for s in BEFORE}).to_numpy().T
    expected = crossed_interval(differences.astype(float))
    assert (row.low, row.high) == (expected.low, expected.high)


def test_queries_that_only_one_system_has_answered() -> None:
    with pytest.raises(ValueError, match="ask both the same"):
        list(gains("x", {1: answered(1, 0)}, {1: answered(1)}, "g", load_params(PARAMS)))
