"""The list of phrases, the places beside it, and files that are refused with a line."""

from __future__ import annotations

from pathlib import Path

import pytest

from models.served.qualifiers import KINDS, Qualifiers
from tasks.artefact.phrases import PHRASES, places, read_phrases


def test_the_list_has_every_kind() -> None:
    phrases = read_phrases(PHRASES)
    assert all(phrases[kind] for kind in (*KINDS, "neither"))
    assert Qualifiers(phrases)("Snr nurse, nights, remote") == {
        "seniority": ["Snr"],
        "contract": ["nights"],
        "location": ["remote"],
    }


def test_places_are_no_words_of_titles() -> None:
    found = places(["Bath attendant", "Nurse"])
    assert {"london", "Swindon", "France", "Ohio", "Costa Rica"} <= set(found)
    assert "Bath" not in found
    assert "Ota" not in found, "three letters"
    assert found == sorted(found)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("phrase\nsenior\n", "kind,phrase"),
        ("kind,phrase\nrank,senior\n", "line 2: kind 'rank'"),
        ("kind,phrase\nseniority,senior\ncontract,!!\n", "line 3: no word"),
        ("kind,phrase\nseniority,senior\ncontract,Senior\n", "line 3: 'Senior' stands in line 2"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "qualifiers.csv"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=said):
        read_phrases(file)
