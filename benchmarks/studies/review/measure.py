"""Milliseconds of a review page in headless Chromium, made by `rolecall review` of a bulk run."""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import quantiles
from tempfile import TemporaryDirectory

import polars as pl
import pyarrow.parquet as pq

from benchmarks.results import Row
from benchmarks.studies.bulk.inputs import distinct_titles, write_model, write_titles
from benchmarks.studies.bulk.whole_run import normalized
from benchmarks.studies.review.chromium import chromium
from benchmarks.studies.review.session import Session, session
from benchmarks.timing import spread
from benchmarks.workspace import Workspace
from tasks.review.__main__ import PAGE, QUEUE

PAGE_SYSTEM = "review_page"
SEARCHES = ("nur", "eng me", "sof dev", "man sal", "tea", "dri tr", "acc", "coo", "war op", "cle")
"""Parts of words that a person types to find an occupation."""


def measure(dataset: str, options: argparse.Namespace) -> Iterator[list[Row]]:
    """Answer titles, queue them, and review the page in a fresh browser each time."""
    workspace = Workspace.read(dataset)
    with TemporaryDirectory() as folder:
        place = Path(folder)
        titles = distinct_titles(workspace, options.titles)
        review = queue_of(workspace, titles, options.queued, place)
        sessions = []
        for turn in range(options.repeats):
            with chromium(place / f"browser{turn}", place) as tab:
                sessions.append(session(tab, review / PAGE, SEARCHES))
            print(f"session {turn + 1} of {options.repeats}", flush=True)
        occupations = pq.read_metadata(workspace.data / "ingest/occupations.parquet").num_rows
        yield [
            Row(PAGE_SYSTEM, "size", "queued", len(pl.read_csv(review / QUEUE)), 1),
            Row(PAGE_SYSTEM, "size", "occupations", occupations, 1),
            Row(PAGE_SYSTEM, "size", "megabytes", (review / PAGE).stat().st_size / 1e6, 1),
            *rows_of(sessions),
        ]


def queue_of(workspace: Workspace, titles: Sequence[str], queued: int, place: Path) -> Path:
    """Make the folder of `rolecall review`; the workspace's model answers with one thread."""
    model, answers, review = place / "model", place / "answers", place / "review"
    write_model(workspace, 1, model)
    write_titles(titles, len(titles), place / "titles.parquet", workspace.params.seed)
    normalized(place / "titles.parquet", answers, model, place / "known", 1)
    words = [str(answers), str(review), f"--budget={queued}", f"--model={model}"]
    subprocess.run([sys.executable, "-m", "tasks.review", *words], check=True)
    return review


def rows_of(sessions: Sequence[Session]) -> Iterator[Row]:
    """Yield medians with the least and the most, of sessions, and of the keys of all of them."""
    keys = [milliseconds for one in sessions for milliseconds in one.keys]
    yield spread(PAGE_SYSTEM, "opening", "painted", [one.painted for one in sessions])
    yield spread(PAGE_SYSTEM, "opening", "loaded", [one.loaded for one in sessions])
    yield spread(PAGE_SYSTEM, "key", "shown", keys)
    yield Row(PAGE_SYSTEM, "key", "shown_95", quantiles(keys, n=20)[-1], len(keys))
