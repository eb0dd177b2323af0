"""Speed and memory of bulk runs at several sizes, and the loss of two-stage search."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl

from benchmarks.job_board import read_halves
from benchmarks.query_figures import UNSEEDED, figures, gains
from benchmarks.results import Row
from benchmarks.studies.bulk.inputs import distinct_titles, write_titles
from benchmarks.studies.bulk.parts import parts
from benchmarks.studies.bulk.whole_run import normalized
from benchmarks.systems import write_model
from benchmarks.workspace import Workspace, data_folder
from models.normalizer.normalizer import Normalizer
from tasks.release.model_package.folder import RunFiles

OURS, EXACT, TEST = "rolecall", "exact", "vacancies"


def measure(dataset: str, options: argparse.Namespace) -> Iterator[list[Row]]:
    """Measure the loss of two-stage search and the parts of an answer, then whole runs by size."""
    import mlflow  # seconds

    workspace = Workspace.read(dataset)
    titles = distinct_titles(workspace, options.titles)
    with TemporaryDirectory() as folder:
        place = Path(folder)
        write_model(RunFiles.below(workspace.folder), place / "model")
        served = mlflow.pyfunc.load_model(str(place / "model")).unwrap_python_model()
        rows = [*search_loss(workspace, served.normalizer), *parts(served.normalizer, titles)]
        for size in options.rows:
            rows += _run(workspace, place, titles, size, f"rows/{size / 1e6:g}m", options)
        few = titles[: len(titles) // 20]
        rows += _run(workspace, place, few, len(titles), "repeats", options)
        yield rows


def search_loss(workspace: Workspace, served: Normalizer) -> Iterator[Row]:
    """Query both searches with the even half of the vacancy titles."""
    queries = read_halves(data_folder(), served.index, "even").queried
    answers, titles = {}, queries["cleaned"].to_list()
    for system, search in (
        (OURS, served.two_stage_search or served.search),
        (EXACT, served.search),
    ):
        codes = np.concatenate([hits.occupations[:, 0] for _, hits in search.blocks(titles, 1)])
        answers[system] = pl.Series([served.index.occupations[code] for code in codes])
    frames = {}
    for system, own in answers.items():
        right = (own == queries["occupation_id"]).cast(float)
        frames[system] = {UNSEEDED: queries.select("query_id", test=pl.lit(TEST), right=right)}
    params, name = workspace.params, f"{OURS}-{EXACT}"
    for system, seeds in frames.items():
        yield from figures(system, seeds, {"right": "success_at_1"}, params)
    both = frames[OURS], frames[EXACT]
    yield from gains(name, *both, "gain_success_at_1", params, column="right")
    same = (answers[OURS] == answers[EXACT]).to_numpy()
    yield Row(OURS, TEST, "same_answer", float(same.mean()), len(same))


def _run(
    workspace: Workspace,
    place: Path,
    titles: Sequence[str],
    rows: int,
    test: str,
    options: argparse.Namespace,
) -> Iterator[Row]:
    """Run titles with an empty cache, Parquet to Parquet."""
    with TemporaryDirectory(dir=place) as folder:
        file = Path(folder) / "titles.parquet"
        write_titles(titles, rows, file, workspace.params.seed)
        took = normalized(
            file, Path(folder) / "out", place / "model", Path(folder) / "cache", options.processes
        )
    print(f"{test}: {took}", flush=True)
    yield Row(OURS, test, "titles_per_second", len(titles) / took.seconds, len(titles))
    yield Row(OURS, test, "rows_per_second", took.rows / took.seconds, took.rows)
    yield Row(OURS, test, "peak_mib", took.memory, took.rows)
