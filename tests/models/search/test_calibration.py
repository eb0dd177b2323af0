"""Confidence: shares of the hierarchy by hand, and broad above narrow."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.search.calibration import Calibration, Levels

HIERARCHY = Levels.of([["1", "11"], ["1", "12"], ["2"], []])


def test_short_hierarchies_repeat_their_last_code() -> None:
    """The last level is the occupation; what has no code shares one with no other."""
    assert len(HIERARCHY) == 3
    same = HIERARCHY.agree(np.array([0, 0, 2, 3]), np.array([1, 0, 2, 2]))
    assert same.tolist() == [
        [True, False, False],
        [True, True, True],
        [True, True, True],
        [False, False, False],
    ]


def test_shares_by_hand() -> None:
    shares = HIERARCHY.shares(np.array([[0.5, 0.2, 0.2, 0.1]] * 2), np.array([1, 2]))
    assert shares == pytest.approx(np.array([[0.7, 0.2, 0.2], [0.2, 0.2, 0.2]]))


@pytest.mark.thorough
@given(st.lists(st.floats(0, 1), min_size=3, max_size=3))
def test_a_broader_code_is_never_less_certain(shares: list[float]) -> None:
    calibration = Calibration(0.1, [0.5, -2.0, 1.0], [1.0, 0.7, 1.3], 0.0)
    confidence = calibration(np.array([shares]))[0]
    assert (np.diff(confidence) <= 0).all()
    assert ((confidence > 0) & (confidence < 1)).all()
    by_hand = 1 / (1 + np.exp(-(1 + 1.3 * np.log(1e-6 / (1 - 1e-6)))))
    assert calibration(np.array([[0.0, 0.0, 0.0]]))[0, -1] == pytest.approx(by_hand)
