"""The corpus of MELO as a taxonomy: occupations by the ids of elements, or by the map."""

from __future__ import annotations

from pathlib import Path

import pytest
from params_of import taxonomy_params
from published import DATA, needs

from tasks.pipeline.ingest.taxonomies import melo
from tasks.pipeline.ingest.taxonomy import Taxonomy
from tasks.tables.rejected import RejectedRows

MELO = DATA / "melo/deu_q_de_c_de"
ELEMENTS = (
    'C1_de_000\tBäcker/Bäckerin "A"\nC1_de_001\tBäcker\nC1_de_002\tbäcker\nC2_de_000\tPilot\n'
    "Pilotin\nD2\tPilotin\n\nC1_en_000\tbaker\nC2_de_000\tPilot\n"
)


def read(folder: Path, **files: str) -> tuple[Taxonomy, RejectedRows]:
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    rejected = RejectedRows()
    paths = {name: str(folder / name) for name in files}
    return melo.read(taxonomy_params("melo", paths), rejected), rejected


def test_golden(tmp_path: Path) -> None:
    taxonomy, rejected = read(tmp_path, elements=ELEMENTS)
    assert {key: list(titles.values()) for key, titles in taxonomy.titles.items()} == {
        "C1": ['Bäcker/Bäckerin "A"', "Bäcker", "baker"],
        "C2": ["Pilot"],
    }
    assert taxonomy.label("C1") == 'Bäcker/Bäckerin "A"'
    assert [refused[1:3] for refused in rejected.refused] == [
        (3, "duplicate title"),
        (5, "wrong number of fields"),
        (6, "malformed code"),
        (7, "empty row"),
        (9, "duplicate row"),
    ]


def test_a_map_names_the_occupations(tmp_path: Path) -> None:
    """As MELO publishes it: ids of the elements, and concept URIs."""
    concepts = "C1_de_000\thttp://x/1\nC1_de_001\thttp://x/2\n"
    taxonomy, rejected = read(
        tmp_path, elements="C1_de_000\ta\nC1_de_001\tb\nC3_de_000\tc\n", concepts=concepts
    )
    assert taxonomy.aliases().rows() == [
        ("http://x/1", "a", "", True),
        ("http://x/2", "b", "", True),
    ]
    assert [refused[1:3] for refused in rejected.refused] == [(3, "unknown occupation")]


@pytest.mark.thorough
@needs(MELO)
def test_the_german_corpus_as_published() -> None:
    """19,135 elements of 3,561 concepts: ESCO's 2,942 occupations and ISCO's 619 groups."""
    rejected = RejectedRows()
    files = {"elements": str(MELO / "corpus_elements.tsv")}
    taxonomy = melo.read(taxonomy_params("melo", files), rejected)
    assert len(taxonomy.titles) == 3_561 == 2_942 + 619
    assert rejected.reasons().keys() <= {"duplicate title"}
    assert taxonomy.aliases().height == 19_135 - sum(rejected.reasons().values())
