"""The columns of an answer follow from one declaration; an abstention fills all of them."""

from __future__ import annotations

import numpy as np

from models.normalizer.answers.columns import Answer, Answers, columns

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


def test_an_abstention_has_nulls_empty_lists_and_its_reason() -> None:
    answers = Answers.abstaining(["empty", None])
    expected = {name: [] if is_list else None for name, (_, is_list) in KINDS.items()}
    expected |= {"reason": "empty", "truncated": False, "abstained": True}
    assert answers[0]._asdict() == expected
    assert [answer.reason for answer in answers] == ["empty", None] and len(answers) == 2


def test_values_are_put_into_some_rows() -> None:
    """Text, numbers and yes or no as arrays or one for all, lists row by row; no list is shared."""
    answers = Answers.abstaining([None] * 3)
    rows = np.array([0, 2])
    answers.put(rows, score=np.array([0.5, 0.25]), reason="low confidence", abstained=False)
    answers.put(rows, codes=[["7"], ["2", "25"]])
    assert [answer.score for answer in answers] == [0.5, None, 0.25]
    assert [answer.reason for answer in answers] == ["low confidence", None, "low confidence"]
    assert [answer.codes for answer in answers] == [["7"], [], ["2", "25"]]
    assert [answer.abstained for answer in answers] == [False, True, False]
    answers[1].codes.append("9")
    assert answers[0].top_titles == answers[1].top_titles == []
