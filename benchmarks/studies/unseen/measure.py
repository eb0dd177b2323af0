"""Titles of left-out occupations rank each other by similarity: is the space good elsewhere too?"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl

from benchmarks.query_figures import standings
from benchmarks.reduced_pairs import write_reduced
from benchmarks.results import Row
from benchmarks.studies.unseen.left_out import LeftOut, leave_out, stays
from benchmarks.systems import CHAMPION, answers
from benchmarks.workspace import Workspace
from models.answer.search import TITLES_AT_ONCE, Similarities
from models.measures.retrieval import RelevantPlaces, ranked
from models.network.kinds import plain
from models.training.checkpoints import run_key
from tasks.files.frames import read_frame
from tasks.files.schemas import TITLES
from tasks.params.network import training_settings
from tasks.params.whole import AllParams
from tasks.teacher.teaching import teach

TEST = "left_out"
METRICS = {"average_precision": "mean_average_precision", "reciprocal_rank": "mrr"}


def measure(dataset: str, options: argparse.Namespace) -> Iterator[list[Row]]:
    """Leave occupations out of the workspace's pairs, train without them, and ask their titles."""
    workspace = Workspace.read(dataset)
    params = workspace.params
    titles = read_frame(workspace.data / "split/titles.parquet", TITLES)
    left_out = leave_out(titles, options.occupations, params.seed)
    folder = options.kept / "pairs"
    pairs = workspace.pairs(workspace.mix)
    counts = write_reduced(pairs, lambda strings: stays(strings, left_out), folder)
    counts |= {"occupations": len(left_out.occupations), "titles": len(left_out.titles)}
    rows = [Row("data", TEST, name, count, 1) for name, count in counts.items()]
    answered = answers(
        left_out.titles,
        lambda system: values(system, left_out),
        folder,
        _teacher(folder, params, options),
        params,
        options,
    )
    yield [*rows, *answered.learned, *standings(CHAMPION, answered.values, METRICS, params)]


def _teacher(pairs: Path, params: AllParams, options: argparse.Namespace) -> Path:
    """Teach with the reduced pairs alone: the workspace's own teacher was tuned on all of them."""
    loss = training_settings(params.network, params.seed).loss
    read = [pairs / f"{name}.parquet" for name in ("strings", "pairs")]
    key = run_key([params.teacher.model_dump(), plain(loss), params.seed], read)
    folder: Path = options.kept / f"teacher-{key}"
    taught = (folder / "words.parquet").is_file()  # the last file that is written
    if params.teacher.teaches and CHAMPION in options.systems and not taught:
        teach(pairs, params.teacher, loss, params.seed, folder)
    return folder


def values(similarities: Similarities, left_out: LeftOut) -> pl.DataFrame:
    """Return `test, query_id` and the columns of `METRICS` for each title that has others.

    The documents are all other titles; those that share an occupation with it are relevant. Of
    equal similarities the title later by code points comes first (`models/measures/retrieval.py`).
    """
    asked = np.flatnonzero((left_out.relevant >= 0).any(axis=1))
    depth, blocks = len(left_out.titles), []
    for start in range(0, len(asked), TITLES_AT_ONCE):
        rows = asked[start : start + TITLES_AT_ONCE]
        scores = similarities([left_out.titles[row] for row in rows]).astype(np.float32)
        scores[np.arange(len(rows)), rows] = -np.inf  # itself: behind all others
        places = RelevantPlaces.of(ranked(scores), left_out.relevant[rows], depth)
        found = {name: getattr(places, name)() for name in METRICS}
        blocks.append(pl.DataFrame({"query_id": rows.astype(str), **found}))
    return pl.concat(blocks).select(pl.lit(TEST).alias("test"), pl.all())
