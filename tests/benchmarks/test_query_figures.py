"""Figures over seeds, against values worked out by hand."""

from __future__ import annotations

import polars as pl
import pytest

from benchmarks.query_figures import gains_of_seeds


def answered(*hits: float) -> pl.DataFrame:
    queries = [str(number) for number in range(len(hits))]
    return pl.DataFrame({"query_id": queries, "success_at_1": hits}).with_columns(
        pl.lit("typos").alias("test")
    )


def test_the_interval_of_seeds_is_students() -> None:
    before = {1: answered(0, 0, 1, 1), 2: answered(0, 0, 0, 1), 3: answered(0, 0, 0, 0)}
    after = {1: answered(1, 0, 1, 1), 2: answered(1, 1, 0, 1), 3: answered(1, 1, 1, 0)}
    (row,) = gains_of_seeds("verdicts_10", after, before, "gain_of_seeds")
    # gains .25, .5, .75: standard deviation .25, t(2, .975) = 4.3027
    assert (row.value, row.n, row.seed) == (0.5, 3, None)
    margin = 4.302653 * 0.25 / 3**0.5
    assert (row.low, row.high) == pytest.approx((0.5 - margin, 0.5 + margin), abs=1e-6)
