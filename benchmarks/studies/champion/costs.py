"""Cost of an answer: titles a second on one thread, search included, and megabytes."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import polars as pl

from benchmarks.networks.runner import one_thread
from benchmarks.results import Row
from benchmarks.systems import CHAMPION, SENTENCES, untrained
from benchmarks.timing import Work, alternate
from benchmarks.workspace import Workspace
from models.search.search import Search, Similarities
from tasks.release.model_package.quantized_network import QuantizedNetwork


def cost_rows(
    workspace: Workspace, queries: pl.DataFrame, model: Path, options: argparse.Namespace
) -> Iterator[Row]:
    """Yield speed and size of the registered network and of the systems that learn nothing.

    They answer the first `options.timed` titles of `queries` (column `cleaned`).
    """
    params, index = workspace.params, workspace.aliases
    precision = params.register_.precision
    titles = queries["cleaned"].to_list()[: options.timed]

    def work(name: str, similarities: Similarities) -> Work:
        search = Search(index, similarities, params.evaluate.rule)

        def answer() -> float:
            return float(sum(len(hits.scores) for _, hits in search.blocks(titles, 1)))

        return Work(name, "speed", "titles_per_second", answer)

    with one_thread():
        ours = QuantizedNetwork.of(model, precision).similarities(index.titles)
        others = [*untrained(index.titles, params.lexical, options.untrained)]
        works = [work(CHAMPION, ours), *(work(*other[:2]) for other in others)]
        yield from alternate(works, options.repeats)
    for system, kept in ((CHAMPION, precision), (f"{CHAMPION}/single", "single")):
        weight = QuantizedNetwork.of(model, kept).megabytes(index.titles)
        yield Row(system, "size", "megabytes", weight, 1)
    for system, _, weight in others:
        if system == SENTENCES:
            yield Row(system, "size", "megabytes", weight, 1)
