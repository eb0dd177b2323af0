"""A benchmark folder as its publisher gives it, and messages about one that does not fit."""

from __future__ import annotations

from pathlib import Path

import pytest
import small_benchmark
from small_benchmark import CONCEPTS

from tasks.apps.benchmark_folder import BenchmarkError, read_benchmark
from tasks.tables.source_files import IngestError


def test_golden(tmp_path: Path) -> None:
    """Leave out Q3, of which nothing is relevant; titles come cleaned."""
    benchmark = read_benchmark(small_benchmark.write(tmp_path))
    assert benchmark.queries == {"Q1": "softwareentwickler", "Q2": "bäckerin"}
    assert benchmark.qrels == {"Q1": ["C1_de_000", "C1_de_001"], "Q2": ["C2_de_001"]}
    assert benchmark.left_out == 1
    assert benchmark.index.occupations == [*benchmark.elements] == [*benchmark.document_of]
    assert benchmark.index.titles == sorted(set(benchmark.elements.values()))


def test_elements_of_a_concept_are_one_document(tmp_path: Path) -> None:
    folder = small_benchmark.write(tmp_path, concept=CONCEPTS)
    benchmark = read_benchmark(folder)
    assert benchmark.index.occupations == ["food", "it", "it2"]
    assert benchmark.qrels == {"Q1": ["it"], "Q2": ["food"]}
    assert read_benchmark(folder, concepts=False).qrels["Q2"] == ["C2_de_001"]


def test_what_publishers_do_is_accepted(tmp_path: Path) -> None:
    """Byte order mark, Windows line ends, blank lines, spaces in qrels, quotes, grades."""
    folder = small_benchmark.write(tmp_path, annotations="Q1 0  C1_de_000 2\r\n\r\n")
    (folder / "queries.tsv").write_bytes('\ufeffQ1\t"CEO" (m/w/d)\r\n\r\n'.encode())
    benchmark = read_benchmark(folder)
    assert benchmark.queries == {"Q1": '"ceo" (m/w/d)'}
    assert benchmark.qrels == {"Q1": ["C1_de_000"]}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"queries": "Q1 a\n"}, "queries.tsv, line 1: 1 fields where 2 are expected .id, title."),
        ({"queries": "Q1\ta\tb\n"}, "queries.tsv, line 1: 3 fields where 2"),
        ({"queries": "Q1\ta\nQ1\tb\n"}, "queries.tsv, line 2: the id Q1 stands twice"),
        ({"queries": "Q1\t \n"}, "queries.tsv, line 1: Q1 has an empty title"),
        ({"queries": "Q 1\ta\n"}, "queries.tsv, line 1: the id 'Q 1' is empty or holds white"),
        ({"queries": "\n"}, "queries.tsv is empty. A benchmark is a folder with"),
        ({"corpus": "C1\ta\n"}, "annotations.tsv, line 1: C1_de_000 does not stand in corpus_el"),
        ({"annotations": "Q9 0 C1_de_000 1\n"}, "annotations.tsv, line 1: Q9 does not stand in q"),
        ({"annotations": "Q1 C1_de_000 1\n"}, "line 1: 3 fields where 4 are expected .query, it"),
        ({"annotations": "Q1 0 C1_de_000 yes\n"}, "line 1: relevance 'yes' is no whole number"),
        ({"annotations": "Q1 0 C1_de_000 1\n" * 2}, "line 2: Q1 and C1_de_000 once more"),
        ({"annotations": "Q1 0 C1_de_000 0\n"}, "annotations.tsv: no query has a relevant element"),
        ({"concept": CONCEPTS + "C9\tit\n"}, "mapping.tsv, line 6: C9 does not stand in corpus_"),
        ({"concept": "C1_de_000\tit\n"}, "names no concept of 4 elements, the first is C1_de_001"),
        ({"concept": "C1_de_000\t\n"}, "concept_mapping.tsv, line 1: the id '' is empty"),
    ],
)
def test_what_does_not_fit_is_named(tmp_path: Path, changes: dict, message: str) -> None:
    with pytest.raises(BenchmarkError, match=message):
        read_benchmark(small_benchmark.write(tmp_path, **changes))


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    folder = small_benchmark.write(tmp_path)
    with (folder / "queries.tsv").open("ab") as file:
        file.write(b"Q4\tB\xe4cker \x81\n")
    with pytest.raises(BenchmarkError, match=r"queries.tsv, line 4: bytes that are not text"):
        read_benchmark(folder)


@pytest.mark.parametrize("name", ["queries", "corpus_elements", "annotations"])
def test_a_missing_file_is_named(tmp_path: Path, name: str) -> None:
    folder = small_benchmark.write(tmp_path)
    (folder / f"{name}.tsv").unlink()
    with pytest.raises(IngestError, match=rf"{name}.tsv is missing. A benchmark is a folder with"):
        read_benchmark(folder)
