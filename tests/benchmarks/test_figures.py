"""Figures of networks, by hand: on queries and on scored pairs, each seed, all, and differences."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from benchmarks.networks import Outcome, learning
from benchmarks.pair_networks import Figure, compared, mean_over_sets, rows_of, word_overlap
from benchmarks.query_figures import figures, gains
from benchmarks.results import BEST_STEP
from benchmarks.workspace import Workspace
from models.metrics.intervals import crossed_interval
from models.reproducibility import child_seed
from models.training.loop import Look
from models.training.scored_run import ScoredPairs
from tasks.check_params import AllParams
from tasks.papers.similarity.similarity_measures import Measured

ALL = {"success_at_1": "success_at_1"}
RANDOM = np.random.default_rng(5)
GOLD = RANDOM.random(40)
GOOD, BAD = GOLD + 0.2 * RANDOM.random((2, 40)), GOLD + 2 * RANDOM.random((2, 40))
DRAW = child_seed(0, "pairs", "toy")


@pytest.fixture
def params(workspace: Path) -> AllParams:
    return Workspace.read("sample").params


def values(*numbers: float | None, test: str = "typos") -> pl.DataFrame:
    rows = [(test, f"q{k}", number) for k, number in enumerate(numbers)]
    return pl.DataFrame(rows, ["test", "query_id", "success_at_1"], orient="row")


def test_figures_by_hand(params: AllParams) -> None:
    """Seed 1 has 2 of 4, seed 2 has 3 of 4; over queries means 1, 1, 1/2 and 0: 5/8."""
    by_seed = {1: values(1, 1, 0, 0), 2: values(1, 1, 1, 0)}
    rows = list(figures("s", by_seed, ALL, params))
    of_each = [(row.seed, row.value, row.n) for row in rows]
    assert of_each == [(1, 0.5, 4), (2, 0.75, 4), (None, 0.625, 4)]
    assert all(row.low <= row.value <= row.high for row in rows)  # type: ignore[operator]


def test_a_query_counts_as_often_as_it_has_a_number(params: AllParams) -> None:
    """Of five numbers 1, 0; 1, 0, 1 three are 1; a mean of the queries' means would be 2/3."""
    rows = list(figures("s", {1: values(1, 0, None), 2: values(1, 0, 1)}, ALL, params))
    assert [row.n for row in rows] == [2, 3, 3]
    assert [row.value for row in rows] == pytest.approx([0.5, 2 / 3, 0.6])
    none = {1: values(None, None).cast({"success_at_1": pl.Float64})}
    assert not list(figures("s", none, ALL, params))


def test_gains_are_paired_by_query_whatever_the_order(params: AllParams) -> None:
    """Means over seeds 1, 1/2, 0 less 1, 0, 0: (0 + 1/2 + 0) / 3; equal systems gain exactly 0."""
    mine = {1: values(1, 1, 0), 2: values(1, 0, 0)}
    theirs = {5: values(1, 0, 0).reverse()}
    (row,) = gains("s", mine, theirs, "gain_over_best", params)
    assert row.value == pytest.approx(1 / 6)
    (same,) = gains("s", mine, mine, "gain_over_best", params)
    assert (same.value, same.low, same.high, same.seed) == (0, 0, 0, None)
    with pytest.raises(ValueError, match="ask both the same"):
        next(gains("s", mine, {1: values(1, 0)}, "gain_over_best", params))
    more = pl.concat([values(1, 0, 0), values(1, test="valid")])
    assert [row.test for row in gains("s", mine, {1: more}, "g", params)] == ["typos"]


def test_a_gain_holds_what_other_seeds_would_change(params: AllParams) -> None:
    """Seed by seed: 1 − 0, 0 − 0 and 0 − 1, 1 − 1; one seed alone is a bootstrap over queries."""
    mine, theirs = {1: values(1, 0), 2: values(0, 1)}, {1: values(0, 0), 2: values(1, 1)}
    (row,) = gains("s", mine, theirs, "g", params)
    interval = crossed_interval(np.array([[1.0, 0.0], [-1.0, 0.0]]))
    assert (row.value, row.low, row.high) == (0.0, interval.low, interval.high)
    (alone,) = gains("s", {1: mine[1]}, {1: theirs[1]}, "g", params)
    assert (alone.value, alone.low, alone.high) == (0.5, 0.0, 1.0)
    (unseeded,) = gains("s", mine, {0: values(0, 0)}, "g", params)
    over_one = crossed_interval(np.array([[1.0, 0.0], [0.0, 1.0]]))
    assert (unseeded.low, unseeded.high) == (over_one.low, over_one.high)


def test_a_setting_draws_the_queries_of_its_test(params: AllParams) -> None:
    numbers = np.random.default_rng(1).random(30)
    tests = [values(*numbers, test=test) for test in ("typos", "odd/typos")]
    plain, own = (next(figures("s", {1: test}, ALL, params)) for test in tests)
    assert (plain.low, plain.high) == (own.low, own.high)


@pytest.mark.parametrize(
    ("scores", "best"), [((0.2, 0.1, 0.3), 100), ((0.2, 0.2), 0), ((0.1, 0.3, 0.3), 50)]
)
def test_the_first_of_the_best_looks(scores: tuple[float, ...], best: int) -> None:
    """Training keeps the weights of the first: an equal one later has taught nothing."""
    looks = [Look(50 * number, 0, 0, 0, score) for number, score in enumerate(scores)]
    rows = list(learning({"a": {2: Outcome(looks)}}))
    assert rows == [("a", "training", BEST_STEP, best, 1, None, None, 2)]


def test_rows_of_pairs_are_of_each_seed_and_of_all() -> None:
    figure = compared("pearson", GOOD.tolist(), GOLD, "toy")
    first, second, all_seeds = rows_of("s", {("t", "pearson"): figure}, [1, 2])
    assert (first.seed, second.seed, all_seeds.seed) == (1, 2, None)
    assert all_seeds.value == pytest.approx((first.value + second.value) / 2)
    assert {(*row[:3], row.n) for row in (first, second, all_seeds)} == {("s", "t", "pearson", 40)}
    assert [row.seed for row in rows_of("s", {("t", "pearson"): figure})] == [None]


def test_each_set_counts_once_and_draws_without_a_value_are_left_out() -> None:
    small = Measured(np.array([0.2]), np.array([0.1, 0.3]))
    large = Measured(np.array([0.6]), np.array([0.5, 0.5]))
    both = mean_over_sets([Figure(small, 100), Figure(large, 10)])
    assert both.n == 110 and both.measured.value == pytest.approx(0.4)
    np.testing.assert_allclose(both.measured.resampled, [0.3, 0.4])
    undefined = Measured(np.array([0.5]), np.array([np.nan, 0.5, 0.5]))
    assert next(rows_of("s", {("t", "pearson"): Figure(undefined, 3)})).low == 0.5


def test_word_overlap_by_hand() -> None:
    """{a, dog, runs} and {a, dog}: 2·2 / 5; nothing shared: 0; the same words: 1; no word: 0."""
    pairs = ScoredPairs.of(["A dog runs", "x", "b  a", " "], ["a dog dog", "y", "a b", ""])
    assert word_overlap(pairs) == [0.8, 0.0, 1.0, 0.0]
