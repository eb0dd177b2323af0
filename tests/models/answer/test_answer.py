"""The columns of an answer follow from one declaration; an abstention fills all of them."""

from __future__ import annotations

from models.answer.answer import Answer, columns

KINDS = {
    "occupation_id": (str, False),
    "occupation_label": (str, False),
    "codes": (str, True),
    "matched_title": (str, False),
    "score": (float, False),
    "confidence": (float, False),
    "code_confidences": (float, True),
    "reason": (str, False),
    "cut": (bool, False),
    "top_occupation_ids": (str, True),
    "top_titles": (str, True),
    "top_scores": (float, True),
}


def test_columns_are_those_declared() -> None:
    """In the order of the fields, each with its type and a meaning in words."""
    declared = columns()
    assert list(declared) == list(Answer._fields)
    assert {name: (column.type, column.is_list) for name, column in declared.items()} == KINDS
    assert all(column.meaning for column in declared.values())


def test_an_abstention_has_nulls_empty_lists_and_its_reason() -> None:
    answer = Answer.abstain("empty")
    expected = {name: [] if is_list else None for name, (_, is_list) in KINDS.items()}
    assert answer._asdict() == expected | {"reason": "empty", "cut": False}
