"""Cost of an answer: titles a second on one thread, search included, and megabytes."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path

import polars as pl

from benchmarks.results import Row
from benchmarks.runner import one_thread
from benchmarks.systems import CHAMPION, SENTENCES, untrained
from benchmarks.timing import Work, alternate
from benchmarks.workspace import Workspace
from models.ranking.search import Search, Similarities
from tasks.pipeline.teacher.sentence_encoder import sentence_encoder
from tasks.release.model_package.quantized_network import QuantizedNetwork


def cost_rows(
    workspace: Workspace, queries: pl.DataFrame, model: Path, options: argparse.Namespace
) -> Iterator[Row]:
    """Yield speed and size of the registered network and of the systems that learn nothing.

    Args:
        workspace: whose aliases are searched.
        queries: column `cleaned`.
        model: folder of the network.
        options: `untrained`, names of other systems; `timed`, titles; `repeats`.
    """
    params, index = workspace.params, workspace.aliases
    precision = params.register_.precision
    titles = queries["cleaned"].to_list()[: options.timed]

    def work(name: str, similarities: Similarities) -> Work:
        search = Search(index, similarities, params.evaluate.rule)
        return Work(name, "speed", "titles_per_second", _answered(search, titles))

    with one_thread():
        ours = QuantizedNetwork.of(model, precision).similarities(index.titles)
        others = untrained(index.titles, params, options.untrained)
        works = [work(CHAMPION, ours), *(work(*other) for other in others)]
        yield from alternate(works, options.repeats)
    for system, kept in ((CHAMPION, precision), (f"{CHAMPION}/single", "single")):
        weight = QuantizedNetwork.of(model, kept).megabytes(index.titles)
        yield Row(system, "size", "megabytes", weight, 1)
    if SENTENCES in options.untrained:
        weights = sum(one.numel() for one in sentence_encoder().model.parameters())
        numbers = weights + 384 * len(index.titles)
        yield Row(SENTENCES, "size", "megabytes", 4 * numbers / 1e6, 1)


def _answered(search: Search, titles: list[str]) -> Callable[[], float]:
    def answer() -> float:
        return float(sum(len(hits.scores) for _, hits in search.blocks(titles, 1)))

    return answer
