"""Speed and memory of bulk runs at several sizes, beside other systems, and what pruning loses."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl
from threadpoolctl import threadpool_limits

from benchmarks.query_figures import UNSEEDED, standings
from benchmarks.results import Row
from benchmarks.studies.bulk.inputs import distinct_titles, write_model, write_titles
from benchmarks.studies.bulk.single import single_titles
from benchmarks.studies.bulk.spark_run import on_spark
from benchmarks.studies.bulk.systems import parts, read_served, speeds, unpruned
from benchmarks.studies.bulk.whole_run import normalized
from benchmarks.studies.champion.titles import read_halves
from benchmarks.timing import spread
from benchmarks.tuning import one_thread
from benchmarks.workspace import Workspace, data_folder
from models.served.normalizer import Normalizer

OURS, EXACT, TEST = "rolecall", "exact", "vacancies"
SLOW = ("minilm", "rapidfuzz")


def measure(dataset: str, options: argparse.Namespace) -> Iterator[list[Row]]:
    """Measure what pruning loses, then systems side by side, then whole runs, size by size."""
    workspace = Workspace.read(dataset)
    titles = distinct_titles(workspace, options.titles)
    with TemporaryDirectory() as folder:
        place = Path(folder)
        write_model(workspace, 1, place / "model")
        served = read_served(place / "model")
        rows = [*_lost(workspace, served)]
        rows += single_titles(OURS, place / "model", titles[: options.slow])
        rows += _beside(place / "model", titles, options)
        seed, processes = workspace.params.seed, options.processes
        rows += on_spark(place / "model", titles, options.cluster, seed, processes)
        for size in options.rows:
            rows += _run(workspace, place, titles, size, f"rows/{size / 1e6:g}m", options)
        few = titles[: len(titles) // 20]
        rows += _run(workspace, place, few, len(titles), "repeats", options)
        for times in (1, *options.times):
            write_model(workspace, times, place / "model")
            rows += _run(workspace, place, few, len(few), f"taxonomy/{times}", options)
        yield rows


def _lost(workspace: Workspace, served: Normalizer) -> Iterator[Row]:
    """Ask half of the vacancy titles, none of those that other studies report, of both searches."""
    asked = read_halves(data_folder(), served.index, "even").asked
    found = {OURS: _answers(served, asked), EXACT: _answers(unpruned(served), asked)}
    frames = {}
    for system, answers in found.items():
        right = (answers == asked["occupation_id"]).cast(float)
        frames[system] = {UNSEEDED: asked.select("query_id", test=pl.lit(TEST), right=right)}
    yield from standings(OURS, frames, {"right": "success_at_1"}, workspace.params)
    same = (found[OURS] == found[EXACT]).to_numpy()
    yield Row(OURS, TEST, "same_answer", float(same.mean()), len(same))


def _answers(served: Normalizer, asked: pl.DataFrame) -> pl.Series:
    search = served.pruned or served.search
    blocks = (hits for _, hits in search.blocks(asked["cleaned"].to_list(), 1))
    codes = np.concatenate([hits.occupations[:, 0] for hits in blocks])
    return pl.Series([served.index.occupations[code] for code in codes])


def _beside(model: Path, titles: Sequence[str], options: argparse.Namespace) -> Iterator[Row]:
    """Ask the same titles of all systems, fewer of the slow ones; then the parts of ours."""
    for system in (OURS, EXACT, *SLOW):
        served = unpruned(read_served(model)) if system == EXACT else read_served(model)
        some = titles[: options.slow if system in SLOW else options.sample]
        with one_thread(), threadpool_limits(1):
            own = [*speeds(system, served, some, options.repeats)]
            print(f"{system}: {own[-1]:,.0f} titles/s, {len(some):,} of them", flush=True)
            yield spread(system, "one_thread", "titles_per_second", own)
            if system == OURS:
                with TemporaryDirectory() as folder:
                    yield from parts(served, model, some, Path(folder))


def _run(
    workspace: Workspace,
    place: Path,
    titles: Sequence[str],
    rows: int,
    test: str,
    options: argparse.Namespace,
) -> Iterator[Row]:
    """Run titles with nothing known, Parquet to Parquet."""
    with TemporaryDirectory(dir=place) as folder:
        file = Path(folder) / "titles.parquet"
        write_titles(titles, rows, file, workspace.params.seed)
        took = normalized(
            file, Path(folder) / "out", place / "model", Path(folder) / "known", options.processes
        )
    print(f"{test}: {took}", flush=True)
    yield Row(OURS, test, "titles_per_second", len(titles) / took.seconds, len(titles))
    yield Row(OURS, test, "rows_per_second", took.rows / took.seconds, took.rows)
    yield Row(OURS, test, "peak_mib", took.memory, took.rows)
