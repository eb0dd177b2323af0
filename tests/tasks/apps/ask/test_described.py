"""Descriptions of a toy normalizer's answers: labels of the alternatives, reasons in words."""

from __future__ import annotations

import pytest
from served_toy import toy_normalizer, toy_normalizer_of_languages

from models.serving import clean as abstention
from models.serving.answer import Answer
from models.serving.clean import UNCALIBRATED
from models.serving.confidence import Calibration
from tasks.apps import ask as described
from tasks.apps.ask import MEANINGS

SURE = Calibration(0.05, [0.0, 0.0, 0.0], [1.0, 1.0, 1.0], 10)
TITLES = ["Bread maker", None, "", "???", "keeper"]


def test_a_description_has_all_columns_and_what_people_want_beside_them() -> None:
    bread, missing, empty, signs, keeper = described(toy_normalizer(SURE), TITLES, {"top_k": 3})
    beside = {"raw_title", "meaning", "code_labels", "alternatives", "explanation"}
    assert bread.keys() == beside | set(Answer._fields)
    assert (bread["raw_title"], bread["occupation_label"]) == ("Bread maker", "Baker")
    assert (bread["codes"], bread["code_labels"]) == (["7", "75"], ["Craft workers", ""])
    assert bread["meaning"] is None and bread["confidence"] > 0.5
    assert [one["occupation_id"] for one in bread["alternatives"]] == bread["top_occupation_ids"][
        1:
    ]
    assert {one["occupation_label"] for one in bread["alternatives"]} == {"Nurse", "Keeper"}
    words = [part["word"] for part in bread["explanation"]["words"]]
    assert words == ["bread", "maker"] and bread["explanation"]["why"].startswith("Baker, by")
    assert [one["reason"] for one in (missing, empty, signs)] == ["null", "empty", "no letters"]
    assert missing["explanation"] == {"why": "no answer: the title is missing", "words": []}
    assert signs["meaning"] == "the title holds digits, punctuation or emoji only"
    assert signs["alternatives"] == [] and len(keeper["alternatives"]) == 2


def test_an_abstention_is_not_explained_as_an_answer() -> None:
    (answer,) = described(toy_normalizer(SURE), ["bread"], {"min_confidence": 1.0})
    assert answer["reason"] == "low confidence" and answer["explanation"]["words"] == []
    assert answer["explanation"]["why"].startswith("no answer: the confidence")


def test_without_calibration_and_without_explanation() -> None:
    (answer,) = described(toy_normalizer(), ["bread"], {}, explained=False)
    assert answer["confidence"] is None and "explanation" not in answer
    assert answer["meaning"].startswith("the model has no calibration")


def test_a_wrong_parameter_is_refused() -> None:
    with pytest.raises(ValueError, match="top_k = 0"):
        next(described(toy_normalizer(), ["bread"], {"top_k": 0}))


def test_every_reason_has_a_meaning() -> None:
    named = vars(abstention).items()
    reasons = {value for name, value in named if name.isupper() and isinstance(value, str)}
    assert set(MEANINGS) == reasons | {UNCALIBRATED}


def test_alternatives_and_explanation_are_in_the_language_asked_for() -> None:
    """Or in that of the closest title."""
    normalizer, nurse = toy_normalizer_of_languages(), "nurse responsible for general care"
    for raw_title, params, expected in (
        ("coffee baker", {"language": "de"}, "Krankenpfleger"),
        ("coffee baker", {}, nurse),
        ("Barista Krankenpfleger Barista", {"language": "en"}, nurse),
    ):
        (answer,) = described(normalizer, [raw_title], {"top_k": 4, **params})
        labels = {one["occupation_id"]: one["occupation_label"] for one in answer["alternatives"]}
        assert (labels | {answer["occupation_id"]: answer["occupation_label"]})["nurse"] == expected
    (answer,) = described(normalizer, ["registered nurse"], {"language": "de"})
    assert answer["explanation"]["why"].startswith("Krankenpfleger, by its title 'Nurse'")
