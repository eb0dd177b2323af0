"""A system asked a benchmark: documents, ties and values against those worked out by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import small_benchmark
from small_benchmark import lexical

from tasks.apps.benchmark import as_table, figures, rank
from tasks.apps.benchmark_folder import read_benchmark


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
