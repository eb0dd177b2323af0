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


@pytest.mark.parametrize(("replies", "looks"), [(3, 10), (9, 10), (40, 10), (1, 50)])
def test_looks_at_a_quarter_of_the_error_err_no_more_often(replies: int, looks: int) -> None:
    """The exact chance that equal systems are called different when so many replies come a look."""
    alive, shown = {0: 1.0}, 0.0  # wins so far -> chance of these, nothing shown yet
    for look in range(1, looks + 1):
        following: dict[int, float] = {}
        for wins, chance in alive.items():
            for more in range(replies + 1):
                drawn = chance * comb(replies, more) / 2**replies
                following[wins + more] = following.get(wins + more, 0.0) + drawn
        enough = [
            wins for wins in following if chance_if_equal(wins, look * replies - wins) <= 0.05 / 4
        ]
        shown += sum(following.pop(wins) for wins in enough)
        alive = following
    assert 0.01 < shown <= 0.05
    assert shown + sum(alive.values()) == pytest.approx(1)


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
