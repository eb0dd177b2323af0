"""Parameters out of range are refused with the value and what it may be."""

from __future__ import annotations

from typing import Any

import pytest

from models.normalizer.predict_params import MOST, PARAMS, PredictParams


def wanted(calibrated: bool = True, **changes: Any) -> PredictParams:
    asked = {"top_k": 5, "min_confidence": None, "code_depth": None, "language": None} | changes
    return PredictParams.of(**asked, depth=2, languages=["en", "de", ""], calibrated=calibrated)


def test_what_may_be_asked() -> None:
    assert wanted() == PredictParams(5, 0.0, 0, None)
    assert wanted(top_k=MOST, min_confidence=1, code_depth=2) == PredictParams(MOST, 1.0, 2, None)
    assert wanted(top_k=3.0, calibrated=False, min_confidence=0) == PredictParams(3, 0.0, 0, None)
    assert [wanted(language=name).language for name in ("en", "DE", "")] == [0, 1, None]
    assert PARAMS == ("top_k", "min_confidence", "code_depth", "language")
    assert (wanted().confident_from, wanted(min_confidence=0.9).confident_from) == (0.5, 0.9)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"top_k": 0}, "top_k = 0; it must be from 1 to 1000"),
        ({"top_k": -3}, "top_k = -3; it must be from 1 to 1000"),
        ({"top_k": 100_000_000}, "top_k = 100000000; it must be from 1 to 1000"),
        ({"top_k": 2.5}, "top_k = 2.5; it must be a whole number"),
        ({"top_k": "5"}, "top_k = '5'; it must be a whole number"),
        ({"top_k": True}, "top_k = True; it must be a whole number"),
        ({"top_k": float("nan")}, "top_k = nan; it must be a whole number"),
        ({"top_k": float("inf")}, "top_k = inf; it must be a whole number"),
        ({"min_confidence": -0.1}, r"min_confidence = -0.1; it is a chance, from 0 to 1"),
        ({"min_confidence": 1.5}, r"min_confidence = 1.5; it is a chance, from 0 to 1"),
        ({"min_confidence": float("nan")}, "min_confidence = nan; it is a chance"),
        ({"min_confidence": "much"}, "min_confidence = 'much'; it must be a number"),
        ({"code_depth": 3}, r"code_depth = 3; this taxonomy has 2 levels above its occupations"),
        ({"code_depth": -1}, r"code_depth = -1; this taxonomy has 2"),
        ({"language": "fr"}, "language = 'fr'; the titles of this model are in de, en; leave it"),
        ({"language": 3}, "language = 3; the titles of this model are in de, en"),
        ({"calibrated": False, "min_confidence": 0.2}, "min_confidence = 0.2: .* not calibrated"),
    ],
    ids=str,
)
def test_what_nobody_can_mean(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        wanted(**changes)
