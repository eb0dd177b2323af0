"""Means and intervals of a benchmark as people and programs read them."""

from __future__ import annotations

from pathlib import Path

import small_benchmark
from small_benchmark import lexical

from tasks.apps.benchmark.figures import as_table, as_values, figures
from tasks.apps.benchmark.folder import read_benchmark


def test_the_table_and_the_values(tmp_path: Path) -> None:
    benchmark = read_benchmark(small_benchmark.write(tmp_path))
    values = figures(lexical(benchmark), 200, 1)
    lines = as_table(values, {"ngram": "n-gram matcher"}).splitlines()
    assert [line.split(" |")[0] for line in lines[2:]] == ["| n-gram matcher", "| tfidf         "]
    interval = values["tfidf"]["mrr"]
    assert f"{interval.value:.3f} [{interval.low:.3f}, {interval.high:.3f}]" in lines[3]
    assert as_values(values)["tfidf"]["mrr"] == vars(interval)
