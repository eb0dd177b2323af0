"""Confidence: shares of the hierarchy by hand, and broad above narrow."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.search import calibration
from models.search.calibration import Calibration, Levels
from models.search.kernels import MANY, kernels_for

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


@pytest.mark.parametrize("compiled", [False, True])
def test_shares_by_hand(compiled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    kernels = kernels_for(MANY) if compiled else None
    monkeypatch.setattr(calibration, "kernels_at_hand", lambda: kernels)
    scores = 0.1 * np.log(np.array([[0.5, 0.2, 0.2, 0.1]] * 2, np.float32))
    shares = HIERARCHY.shares(scores, 0.1, np.array([1, 2]))
    assert shares == pytest.approx(np.array([[0.7, 0.2, 0.2], [0.2, 0.2, 0.2]]))


@pytest.mark.thorough
@given(st.lists(st.floats(0, 1), min_size=3, max_size=3))
def test_a_broader_code_is_never_less_certain(shares: list[float]) -> None:
    made = Calibration(0.1, [0.5, -2.0, 1.0], [1.0, 0.7, 1.3], 0.0)
    confidence = made(np.array([shares]))[0]
    assert (np.diff(confidence) <= 0).all()
    assert ((confidence > 0) & (confidence < 1)).all()
    by_hand = 1 / (1 + np.exp(-(1 + 1.3 * np.log(1e-6 / (1 - 1e-6)))))
    assert made(np.array([[0.0, 0.0, 0.0]]))[0, -1] == pytest.approx(by_hand)
