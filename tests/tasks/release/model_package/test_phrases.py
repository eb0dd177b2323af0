"""The list of phrases, and the places beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from models.normalizer.qualifiers import KINDS, Qualifiers, check_phrases, read_phrases
from tasks.release.model_package.phrases import PHRASES, places, write_phrases

pytestmark = pytest.mark.thorough


def test_the_list_has_every_kind() -> None:
    check_phrases(PHRASES)
    phrases = read_phrases(PHRASES)
    assert all(phrases[kind] for kind in (*KINDS, "neither"))
    said = Qualifiers(phrases)("Snr nurse, nights, remote")
    assert said == (["Snr"], ["nights"], ["remote"], False)


def test_places_stand_behind_the_phrases(tmp_path: Path) -> None:
    write_phrases(PHRASES, ["nurse"], tmp_path / "phrases.csv")
    phrases, ours = read_phrases(tmp_path / "phrases.csv"), read_phrases(PHRASES)
    assert phrases["location"] == ours["location"] + places(["nurse"])
    assert phrases["contract"] == ours["contract"]


def test_places_are_no_words_of_titles() -> None:
    found = places(["Bath attendant", "Nurse"])
    assert {"london", "Swindon", "France", "Ohio", "Costa Rica"} <= set(found)
    assert "Bath" not in found
    assert "Ota" not in found, "three letters"
    assert found == sorted(found)
