"""The score test and the sign test by hand, by brute force, and by their errors in replays."""

import math
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.metrics.paired_tests import PairedShares, chance_if_equal, still_needed

OUTCOMES = st.tuples(st.integers(0, 30), st.integers(0, 30), st.integers(0, 200)).filter(any)


def test_ends_where_nothing_differs() -> None:
    """No win and no loss of n: n·m / √(n·m·(1 − m)) = z at m = z² / (n + z²), z = 1.645."""
    shares = PairedShares(0, 0, 100)
    assert shares.high(0.05) == -shares.low(0.05) == pytest.approx(2.7055 / 102.7055, abs=1e-5)
    assert shares.needed(-0.02, 0.05) == 133  # 2.7055 · 0.98 / 0.02 = 132.6


def test_statistic_of_no_difference_is_mcnemars() -> None:
    """(10 − 4) / √(10 + 4) = 1.604."""
    assert PairedShares(10, 4, 100).statistic(0) == pytest.approx(6 / math.sqrt(14))


@given(OUTCOMES, st.integers(-90, 90).map(lambda percent: percent / 100))
def test_deviation_is_that_of_the_likeliest_losses(outcome, difference) -> None:
    """The likelihood of the share of losses, at the difference as given, tried on a fine grid."""
    wins, losses, same = outcome
    n = sum(outcome)
    q = np.linspace(max(0.0, -difference), (1 - difference) / 2, 20_001)[1:-1]
    likelihood = (
        wins * np.log(q + difference) + losses * np.log(q) + same * np.log(1 - 2 * q - difference)
    )
    best = q[likelihood.argmax()]
    variance = n * (2 * best + difference * (1 - difference))
    expected = (wins - losses - n * difference) / math.sqrt(variance)
    assert PairedShares(wins, losses, n).statistic(difference) == pytest.approx(
        expected, rel=0.02, abs=0.02
    )


@given(OUTCOMES, st.sampled_from([0.05, 0.025]))
def test_ends_lie_about_the_difference_and_decide(outcome, error) -> None:
    shares = PairedShares(outcome[0], outcome[1], sum(outcome))
    low, high = shares.low(error), shares.high(error)
    assert -1 <= low <= shares.difference <= high <= 1
    assert not shares.above(low, error)
    if low > -0.99:
        assert shares.above(low - 1e-6, error)


@given(OUTCOMES, st.floats(0.01, 0.3))
def test_needed_is_the_first_number_that_shows_it(outcome, margin) -> None:
    shares = PairedShares(outcome[0], outcome[1], sum(outcome))
    needed = shares.needed(-margin, 0.05)
    assert (needed is None) == (shares.difference <= -margin)
    if needed is not None:
        assert (needed <= shares.queries) == shares.above(-margin, 0.05)
        for queries, shown in ((needed * 1.001 + 1, True), (needed * 0.999 - 1, False)):
            times = max(queries, 1e-9) / shares.queries
            more = PairedShares(shares.wins * times, shares.losses * times, queries)  # type: ignore[arg-type]
            assert more.above(-margin, 0.05) == shown


def test_ties_count_in_part_and_nonsense_is_refused() -> None:
    shares = PairedShares.of(np.array([1, 0.5, 0]), np.array([0, 1.0, 0]))
    assert shares == PairedShares(1, 0.5, 3)
    for first, second in (([1.0], [1.0, 0]), ([], []), ([math.nan], [1.0])):
        with pytest.raises(ValueError, match=r"same queries|finite"):
            PairedShares.of(np.array(first), np.array(second))


@pytest.mark.parametrize(("wins", "losses"), [(0, 0), (5, 0), (7, 3), (3, 7), (40, 22)])
def test_the_chance_by_counting(wins: int, losses: int) -> None:
    """Of all ways in which wins and losses may fall, those with as many wins or more."""
    n = wins + losses
    ways = sum(comb(n, k) for k in range(wins, n + 1))
    assert chance_if_equal(wins, losses) == pytest.approx(ways / 2**n)


def test_what_is_needed_by_hand() -> None:
    """Five wins alone have a chance of 1/32; 3 wins and no loss need two more."""
    assert still_needed(0, 0, 1, 0, 0.05) == 5
    assert still_needed(3, 0, 1, 0, 0.05) == 2
    assert still_needed(5, 0, 1, 0, 0.05) == 0
    assert still_needed(3, 3, 0.3, 0.3, 0.05) is None
