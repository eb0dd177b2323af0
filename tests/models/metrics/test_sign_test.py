"""The exact sign test against sums of binomial coefficients, and how many queries it needs."""

from __future__ import annotations

from math import comb

import pytest

from models.metrics.sign_test import chance_if_equal, still_needed


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


@pytest.mark.parametrize("shares", [(0.4, 0.2), (0.35, 0.25)])
def test_what_is_needed_is_the_least_that_does(shares: tuple[float, float]) -> None:
    """Losses are rounded up and wins down, so that no fewer would do."""
    win, loss = shares
    needed = still_needed(4, 2, win, loss, 0.05)
    assert needed
    shown = [
        chance_if_equal(4 + int(more * win), 2 - int(-more * loss // 1)) <= 0.05
        for more in range(needed + 1)
    ]
    assert shown.index(True) == needed
