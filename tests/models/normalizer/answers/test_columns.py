"""The columns of an answer follow from one declaration; and so do Arrow's types."""

from __future__ import annotations

import pyarrow as pa

from models.normalizer.answers.columns import Answer, Answers, columns, schema

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
