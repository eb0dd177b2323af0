"""Wilson's interval: by hand, as the solution of its equation, and at the ends."""

from __future__ import annotations

import math

import pytest

from models.metrics.wilson import Z, wilson_interval


def test_by_hand() -> None:
    """8 of 10 with z² = 3.8415: centre (.8 + .19207) / 1.38415 = .71674, half .22658."""
    interval = wilson_interval(8, 10)
    assert (interval.value, round(interval.low, 4), round(interval.high, 4)) == (
        0.8,
        0.4902,
        0.9433,
    )


@pytest.mark.parametrize(("right", "n"), [(1, 2), (3, 20), (99, 100)])
def test_the_share_lies_z_deviations_from_both_ends(right: int, n: int) -> None:
    """The ends are the chances p at which |share − p| = z · sqrt(p (1 − p) / n)."""
    interval = wilson_interval(right, n)
    for end in (interval.low, interval.high):
        assert abs(right / n - end) == pytest.approx(Z * math.sqrt(end * (1 - end) / n))


def test_nothing_and_everything_right_reach_the_ends() -> None:
    """Of 3 the other end is z² / (3 + z²) = .5615 away."""
    none, every = wilson_interval(0, 3), wilson_interval(3, 3)
    assert (none.low, none.high) == pytest.approx((0, 0.5615), abs=1e-4)
    assert (every.low, every.high) == pytest.approx((0.4385, 1), abs=1e-4)


@pytest.mark.parametrize(("right", "n"), [(0, 0), (3, 2), (-1, 2)])
def test_what_is_no_share_is_refused(right: int, n: int) -> None:
    with pytest.raises(ValueError, match="is no share"):
        wilson_interval(right, n)
