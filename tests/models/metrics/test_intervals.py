"""Bootstrap intervals against theory and plain loops; Holm's step-down against its definition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.metrics import intervals
from models.metrics.intervals import TAIL, bootstrap_interval, non_inferior, paired_interval


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


def test_one_test_has_the_lower_end_of_the_95_interval() -> None:
    """Draw 1,999: the 50th smallest mean, 2,000 · 0.025; the quantile lies beside it."""
    differences = np.random.default_rng(0).normal(0, 0.1, size=300)
    result = non_inferior({"typos": differences}, 0.01, 1999, 1)["typos"]
    means = np.sort(intervals.resampled_means(differences, 1999, 1))
    assert result.low == means[49]
    assert result.low == pytest.approx(bootstrap_interval(differences, 1999, 1).low, abs=1e-3)


def test_golden_step_down() -> None:
    """Judge three tests: far better, the same within noise, clearly worse.

    The first is held against 0.025/3, the others against 0.025/2, where the walk ends.
    """
    noise = np.random.default_rng(0).normal(0, 0.3, size=500)
    tests = {"worse": noise - 0.2, "same": noise - noise.mean(), "better": noise + 0.2}
    results = non_inferior(tests, 0.01, 1000, 1)
    assert {test: result.passed for test, result in results.items()} == {
        "worse": False,
        "same": False,
        "better": True,
    }
    assert results["better"].level == pytest.approx(0.025 / 3)
    assert results["same"].level == results["worse"].level == pytest.approx(0.0125)
    assert results["worse"].p_value == 1.0
    assert results["better"].p_value == pytest.approx(1 / 1001)


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
