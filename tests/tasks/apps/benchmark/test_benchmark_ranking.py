"""A benchmark as its publisher gives it, and a system asked it, with figures of ir-measures."""

from dataclasses import replace
from pathlib import Path

import ir_measures
import numpy as np
import pytest
import small_benchmark
from ir_measures import AP, RR, Success
from published import DATA, needs
from small_benchmark import CONCEPTS, lexical

from tasks.apps.benchmark import (
    Benchmark,
    BenchmarkError,
    as_table,
    figures,
    rank,
    read_benchmark,
    write_trec,
)
from tasks.tables.source_files import IngestError

MELO = DATA / "melo/deu_q_de_c_de"
THEIRS = {Success @ k: f"success_at_{k}" for k in (1, 5, 10)}
THEIRS |= {AP: "mean_average_precision", RR: "mrr"}


def equal(benchmark: Benchmark, folder: Path) -> None:
    """Compare each lexical system's figures with those of ir-measures, which reads the files."""
    for name, ranked in lexical(benchmark).items():
        means = figures({name: ranked}, 10, 1)[name]
        ours = {metric: interval.value for metric, interval in means.items()}
        write_trec(benchmark, ranked, folder)
        qrels = ir_measures.read_trec_qrels(str(folder / "qrels.trec"))
        run = ir_measures.read_trec_run(str(folder / "run.trec"))
        values = ir_measures.calc_aggregate(list(THEIRS), qrels, run)
        theirs = {THEIRS[measure]: value for measure, value in values.items()}
        assert theirs == pytest.approx(ours, abs=1e-9)


@pytest.mark.parametrize("concepts", [True, False])
def test_small_files_hold_the_figures(tmp_path: Path, concepts: bool) -> None:
    folder = small_benchmark.write(tmp_path, concept=small_benchmark.CONCEPTS)
    equal(read_benchmark(folder, concepts=concepts), tmp_path)
    first = (tmp_path / "run.trec").read_text().splitlines()[0].split()
    assert (first[:2], first[3], first[5]) == (["Q1", "Q0"], "1", "rolecall")


@pytest.mark.thorough
@needs(MELO)
def test_the_german_melo_set_as_published(tmp_path: Path) -> None:
    """Count 1,779 queries and 19,135 elements of 18,094 titles: many elements tie."""
    benchmark = read_benchmark(MELO)
    assert (len(benchmark.queries), benchmark.left_out) == (1_779, 0)
    assert len(benchmark.index.occupations) == 19_135
    assert sum(map(len, benchmark.qrels.values())) == 12_670
    some = [*benchmark.queries][::30]
    queries, qrels = ({q: kept[q] for q in some} for kept in (benchmark.queries, benchmark.qrels))
    equal(replace(benchmark, queries=queries, qrels=qrels), tmp_path)


@pytest.mark.parametrize("concepts", [True, False])
def test_the_closest_element_ranks_and_ties_stand_backwards(tmp_path: Path, concepts: bool) -> None:
    """Q1 is as close to all: the last id first. Q2 is closest to "Bäcker", a C2."""
    folder = small_benchmark.write(tmp_path, concept=small_benchmark.CONCEPTS)
    benchmark = read_benchmark(folder, concepts=concepts)
    close = {"bäcker": 0.5, "brotbäckerin": 0.4}

    def similarities(queries: list[str]) -> np.ndarray:
        row = np.array([close.get(title, 0.0) for title in benchmark.index.titles], np.float32)
        return np.stack([row * (query != "softwareentwickler") for query in queries])

    ranked = rank("toy", similarities, benchmark, 10)
    names = [[benchmark.index.occupations[one] for one in row] for row in ranked.documents]
    if concepts:
        assert names == [["it2", "it", "food"], ["food", "it2", "it"]]
        assert ranked.values["mrr"].tolist() == [0.5, 1.0]
    else:
        everything = sorted(benchmark.elements)[::-1]
        assert names == [everything, ["C2_de_000", "C2_de_001", "C3_de_000", *everything[-2:]]]
        assert ranked.values["mean_average_precision"].tolist() == [(1 / 4 + 2 / 5) / 2, 0.5]
    assert ranked.scores[1, 0] == np.float32(0.5)


def test_the_table(tmp_path: Path) -> None:
    benchmark = read_benchmark(small_benchmark.write(tmp_path))
    values = figures(lexical(benchmark), 200, 1)
    lines = as_table(values, {"ngram": "n-gram matcher"}).splitlines()
    assert [line.split(" |")[0] for line in lines[2:]] == ["| n-gram matcher", "| tfidf         "]
    interval = values["tfidf"]["mrr"]
    assert f"{interval.value:.3f} [{interval.low:.3f}, {interval.high:.3f}]" in lines[3]


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
