"""A system asked a benchmark: documents and ties by hand, figures as ir-measures has them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import ir_measures
import numpy as np
import pytest
import small_benchmark
from ir_measures import AP, RR, Success
from published import DATA, needs
from small_benchmark import lexical

from tasks.apps.benchmark import Ranked, as_table, figures, rank, write_qrels, write_run
from tasks.apps.benchmark_folder import Benchmark, read_benchmark

MELO = DATA / "melo/deu_q_de_c_de"
THEIRS = {
    AP: "mean_average_precision",
    RR: "mrr",
    Success @ 1: "success_at_1",
    Success @ 5: "success_at_5",
    Success @ 10: "success_at_10",
}


def equal(benchmark: Benchmark, folder: Path) -> None:
    """Compare each lexical system's figures with those of ir-measures."""
    for name, ranked in lexical(benchmark).items():
        means = figures({name: ranked}, 10, 1)[name]
        ours = {metric: interval.value for metric, interval in means.items()}
        assert asked_of_files(benchmark, ranked, folder) == pytest.approx(ours, abs=1e-9)


def asked_of_files(benchmark: Benchmark, ranked: Ranked, folder: Path) -> dict[str, float]:
    """The figures of ir-measures, which reads what was written."""
    write_run(benchmark, ranked, folder)
    write_qrels(benchmark, folder)
    qrels = ir_measures.read_trec_qrels(str(folder / "qrels.trec"))
    run = ir_measures.read_trec_run(str(folder / "run.trec"))
    values = ir_measures.calc_aggregate(list(THEIRS), qrels, run)
    return {THEIRS[measure]: value for measure, value in values.items()}


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
    equal(
        replace(
            benchmark,
            queries={query: benchmark.queries[query] for query in some},
            qrels={query: benchmark.qrels[query] for query in some},
        ),
        tmp_path,
    )


@pytest.mark.parametrize("concepts", [True, False])
def test_the_closest_element_ranks_and_ties_stand_backwards(tmp_path: Path, concepts: bool) -> None:
    """Q1 is as close to all: the last id first. Q2 is closest to "Bäcker", a C2."""
    folder = small_benchmark.write(tmp_path, concept=small_benchmark.CONCEPTS)
    benchmark = read_benchmark(folder, concepts=concepts)
    close = {"bäcker": 0.5, "brotbäckerin": 0.4}

    def similarities(queries: list[str]) -> np.ndarray:
        rows = [
            [close.get(t, 0.0) * (q != "softwareentwickler") for t in benchmark.index.titles]
            for q in queries
        ]
        return np.array(rows, dtype=np.float32)

    ranked = rank("toy", similarities, benchmark, 10)
    names = [[benchmark.index.occupations[place] for place in row] for row in ranked.documents]
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
