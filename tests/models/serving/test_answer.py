"""Columns of an answer, and the parameters of a call."""

from typing import Any

import pyarrow as pa
import pytest

from models.serving.answer import MOST, PARAMS, Answer, Answers, PredictParams, columns, schema

KINDS = {
    "occupation_id": (str, False),
    "occupation_label": (str, False),
    "codes": (str, True),
    "matched_title": (str, False),
    "matched_language": (str, False),
    "score": (float, False),
    "score_margin": (float, False),
    "confidence": (float, False),
    "code_confidences": (float, True),
    "best_confident_code": (str, False),
    "answered_by": (str, False),
    "abstained": (bool, False),
    "reason": (str, False),
    "truncated": (bool, False),
    "distinguishing_words": (str, True),
    "runner_up_words": (str, True),
    "top_occupation_ids": (str, True),
    "top_titles": (str, True),
    "top_scores": (float, True),
    **dict.fromkeys(("crosswalk_codes", "seniority", "contract", "location"), (str, True)),
    **dict.fromkeys(("model_version", "taxonomy_version"), (str, False)),
}


def test_columns_are_those_declared() -> None:
    """In the order of the fields, each with its type and a meaning in words."""
    declared = columns()
    assert list(declared) == list(Answer._fields)
    assert {name: (column.type, column.is_list) for name, column in declared.items()} == KINDS
    assert all(column.meaning for column in declared.values())


def test_arrow_has_the_declared_types_and_rows_come_back() -> None:
    """Nulls are None, also where all are."""
    types = {str: pa.string(), float: pa.float64(), bool: pa.bool_()}
    fields = {name: types[kind] for name, (kind, _) in KINDS.items()}
    assert {field.name: field.type for field in schema()} == {
        name: pa.list_(kind) if KINDS[name][1] else kind for name, kind in fields.items()
    }
    empty = {name: [] if is_list else None for name, (_, is_list) in KINDS.items()}
    rows = [empty | {"reason": "empty", "abstained": True}, empty | {"score": 0.5, "codes": ["7"]}]
    answers = Answers(pa.Table.from_pylist(rows, schema()))
    assert [answer._asdict() for answer in answers] == rows and len(answers) == 2
    assert answers[1]._asdict() == rows[1]


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
