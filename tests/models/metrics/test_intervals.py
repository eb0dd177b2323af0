"""Intervals against theory, by hand and by replays; Holm's step-down against its definition."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from shapes import checked

from models.metrics import intervals
from models.metrics.intervals import (
    TAIL,
    bootstrap_interval,
    crossed_interval,
    non_inferior,
    paired_interval,
    wilson_interval,
)


def coin(queries: int, share: float) -> np.ndarray:
    """Return `queries` zeros and ones of which `share` are ones."""
    return (np.arange(queries) < share * queries).astype(float)


def test_interval_of_a_share_is_the_textbook_one() -> None:
    """Take a share of 0.3, n = 1,000: 0.3 ± 1.96·√(0.3·0.7/1000) = 0.3 ± 0.0284."""
    interval = bootstrap_interval(coin(1000, 0.3), draws=4000, seed=1)
    assert interval.value == pytest.approx(0.3)
    assert interval.low == pytest.approx(0.2716, abs=0.002)
    assert interval.high == pytest.approx(0.3284, abs=0.002)


def test_pairing_removes_what_both_systems_share() -> None:
    """Give both the same hard and easy queries, b worse by 0.1 on each: no uncertainty is left."""
    a = np.random.default_rng(0).random(50)
    interval = paired_interval(a, a - 0.1, draws=100, seed=1)
    assert interval.low == pytest.approx(0.1)
    assert interval.high == pytest.approx(0.1)


def test_seed_decides_the_draws() -> None:
    values = np.random.default_rng(0).random(40)
    assert bootstrap_interval(values, 200, 1) == bootstrap_interval(values, 200, 1)
    assert bootstrap_interval(values, 200, 1) != bootstrap_interval(values, 200, 2)


def test_blocks_do_not_change_the_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bound memory by blocks; the means are those of one large block."""
    values = np.random.default_rng(0).random(64)
    whole = intervals.resampled_means(values, 101, 3)
    monkeypatch.setattr(intervals, "BLOCK", 640)
    assert intervals.resampled_means(values, 101, 3).tolist() == whole.tolist()
    assert whole.shape == (101,)


@pytest.mark.parametrize("values", [[], [0.1, np.nan], [np.inf]])
def test_no_or_infinite_values_are_errors(values: list[float]) -> None:
    with pytest.raises(ValueError, match="values, finite"):
        bootstrap_interval(np.array(values), 10, 1)


def test_unpaired_lengths_are_an_error() -> None:
    with pytest.raises(ValueError, match="3 and 2 values are not paired"):
        paired_interval(np.zeros(3), np.zeros(2), 10, 1)


@given(st.lists(st.floats(-0.05, 0.05), min_size=1, max_size=4), st.sampled_from([0.0, 0.01]))
@settings(max_examples=40, deadline=None)
def test_step_down_is_holm(shifts: list[float], margin: float) -> None:
    """Hold sorted p-values against TAIL/m, TAIL/(m−1) …; low > −margin says the same."""
    random = np.random.default_rng(len(shifts))
    tests = {str(i): random.normal(shift, 0.1, size=80) for i, shift in enumerate(shifts)}
    results = non_inferior(tests, margin, draws=400, seed=1)
    ordered = sorted(results.values(), key=lambda result: result.p_value)
    open_tests, walking = len(ordered), True
    for result in ordered:
        assert result.level == pytest.approx(TAIL / open_tests)
        walking = walking and result.p_value <= TAIL / open_tests + 1e-12
        open_tests -= walking
        assert result.passed == walking == (result.low > -margin)
    assert list(results) == list(tests)


def test_equal_systems_are_non_inferior_but_not_better() -> None:
    same = {"typos": np.zeros(30), "annotations": np.zeros(20)}
    assert all(result.passed for result in non_inferior(same, 0.01, 1000, 1).values())
    better = non_inferior(same, 0.0, 1000, 1)
    assert not any(result.passed for result in better.values())
    assert {result.p_value for result in better.values()} == {1.0}


def test_too_few_draws_for_the_smallest_level() -> None:
    """Refuse what level 0.025/3 cannot do: it needs 119 draws, ⌊120 · 0.00833⌋ = 1."""
    tests = {name: np.ones(5) for name in "abc"}
    assert non_inferior(tests, 0.01, 119, 1)["a"].passed
    with pytest.raises(ValueError, match="118 draws cannot reach"):
        non_inferior(tests, 0.01, 118, 1)


def test_wilson_by_hand() -> None:
    """8 of 10 with z² = 3.8415: centre (.8 + .19207) / 1.38415 = .71674, half .22658."""
    interval = wilson_interval(8, 10)
    assert interval.value == 0.8
    assert (interval.low, interval.high) == pytest.approx((0.4902, 0.9433), abs=5e-5)


def test_nothing_and_everything_right_reach_the_ends() -> None:
    """Of 3 the other end is z² / (3 + z²) = .5615 away."""
    none, every = wilson_interval(0, 3), wilson_interval(3, 3)
    assert (none.low, none.high) == pytest.approx((0, 0.5615), abs=1e-4)
    assert (every.low, every.high) == pytest.approx((0.4385, 1), abs=1e-4)


@pytest.mark.parametrize(("right", "n"), [(0, 0), (3, 2), (-1, 2)])
def test_what_is_no_share_is_refused(right: int, n: int) -> None:
    with pytest.raises(ValueError, match="is no share"):
        wilson_interval(right, n)


def test_crossed_by_hand() -> None:
    """Rows 0 1 and 2 5: mean 2, seeds ±1.5, queries ±1, left ±.5; mean squares 9, 4 and 1."""
    interval = checked(crossed_interval)(np.array([[0.0, 1.0], [2.0, 5.0]]))
    freedom = 12**2 / (9**2 + 4**2 + 1**2)
    margin = stats.t.ppf(0.975, freedom) * np.sqrt(12 / 4)
    assert interval.value == 2.0
    assert (interval.low, interval.high) == pytest.approx((2 - margin, 2 + margin))


def test_equal_values_have_no_width() -> None:
    interval = checked(crossed_interval)(np.full((3, 4), 0.25))
    assert (interval.low, interval.value, interval.high) == (0.25, 0.25, 0.25)


@pytest.mark.parametrize("values", [np.zeros((1, 5)), np.zeros((5, 1)), np.full((2, 2), np.nan)])
def test_too_few_are_refused(values: np.ndarray) -> None:
    with pytest.raises(ValueError, match="two of each"):
        checked(crossed_interval)(values)
