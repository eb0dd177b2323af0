"""Speed and memory of bulk runs beside alternatives, and the loss of two-stage search.

Each set of languages is a model of its own. The first one runs at every size and on Spark, the last
one stands beside the alternatives, which would need hours to read titles of 21 languages.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl

from benchmarks.networks.language_arm import Arm
from benchmarks.networks.runner import one_thread
from benchmarks.results import Row
from benchmarks.studies.bulk.alternatives import one_thread_speeds
from benchmarks.studies.bulk.deviations import deviations
from benchmarks.studies.bulk.inputs import distinct_titles, write_titles
from benchmarks.studies.bulk.parts import parts
from benchmarks.studies.bulk.single import single_titles
from benchmarks.studies.bulk.spark_run import on_spark
from benchmarks.studies.bulk.whole_run import normalized
from benchmarks.workspace import Workspace

REPEATED = 20
"""Rows of each title of a run whose titles repeat."""
FIRST = 1_000_000
"""Rows of the runs that every model does, at most."""


def measure(dataset: str, options: argparse.Namespace) -> Iterator[list[Row]]:
    """Measure every set of languages of `options.languages`; yield what there is after each run."""
    workspace = Workspace.read(dataset)
    repeated_most = max(rows // REPEATED for rows in options.rows)
    titles = distinct_titles(workspace, max(*options.titles, repeated_most))
    for name in options.languages:
        arm = Arm(workspace, name, options.kept)
        with one_thread():
            arm.train([workspace.seed], options.processes)
        with arm.served(workspace.seed) as model, TemporaryDirectory() as folder:
            place, served = Path(folder), model.model.unwrap_python_model().normalizer
            is_first, is_last = name == options.languages[0], name == options.languages[-1]
            rows = [*parts(name, served, titles), *single_titles(name, model.folder, titles)]
            for repeated, sizes in ((1, options.titles), (REPEATED, options.rows)):
                for size in sizes:
                    if is_first or size <= FIRST:
                        own, test = titles[: size // repeated], _test(size, repeated)
                        rows += whole_run(name, own, size, test, model.folder, place, options)
                        yield [*rows]
            if is_first:
                rows += on_spark(model.folder, titles[: options.cluster], options.processes)
            if is_last:
                rows += one_thread_speeds(name, served, titles)
            yield [*rows, *deviations(name, served, workspace)]


def _test(rows: int, repeated: int) -> str:
    return f"{'distinct' if repeated == 1 else 'repeats'}/{rows / 1e6:g}m"


def whole_run(
    system: str,
    titles: pl.Series,
    rows: int,
    test: str,
    model: Path,
    place: Path,
    options: argparse.Namespace,
) -> Iterator[Row]:
    """Run titles with an empty cache, Parquet to Parquet."""
    with TemporaryDirectory(dir=place) as folder:
        file = Path(folder) / "titles.parquet"
        write_titles(titles, rows, file, 1)
        took = normalized(
            file, Path(folder) / "out", model, Path(folder) / "cache", options.processes
        )
    print(f"{system}, {test}: {took}", flush=True)
    yield Row(system, test, "titles_per_second", len(titles) / took.seconds, len(titles))
    yield Row(system, test, "rows_per_second", took.rows / took.seconds, took.rows)
    yield Row(system, test, "seconds", took.seconds, took.rows)
    yield Row(system, test, "peak_mib", took.memory, took.rows)
