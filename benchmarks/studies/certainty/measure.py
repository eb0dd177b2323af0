"""The confidence of the workspace's network on its own labelled inputs, as the pipeline fits it."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import polars as pl

from benchmarks.results import Row
from benchmarks.studies.champion.certainty import confidence_rows
from benchmarks.workspace import Workspace
from models.answer.calibration import Calibration
from tasks.evaluation.answering import answering
from tasks.evidence.calibrating import ask, levels
from tasks.files.frames import read_frame, read_json
from tasks.files.schemas import OCCUPATIONS

TEST = "annotations"


def measure(dataset: str, options: argparse.Namespace) -> Iterator[list[Row]]:
    """Ask the test's queries with every seed's network and evidence.

    Raises:
        ValueError: a network has no calibration, as there were too few inputs.
    """
    workspace = Workspace.read(dataset)
    exam, mix = workspace.exam(), workspace.mix
    occupations = read_frame(workspace.data / "ingest/occupations.parquet", OCCUPATIONS)
    hierarchy = levels(exam.index, occupations)
    queries = exam.queries.filter(pl.col("test") == TEST)
    rows: list[Row] = []
    for seed in workspace.params.seeds:
        evidence = workspace.data / "evidence" / mix / str(seed)
        fitted = read_json(evidence / "calibration.json")
        if fitted is None:
            raise ValueError(f"{evidence}/calibration.json: too few inputs to fit confidence on")
        calibration = Calibration(**fitted)
        rule = workspace.params.evaluate.rule
        search = answering(workspace.model(mix, seed), exam.index, rule, evidence)
        told = ask(search, queries, hierarchy, calibration.temperature)
        rows += confidence_rows(mix, told, calibration, seed)
    yield [row._replace(test=f"{TEST}/{row.test}") for row in rows]
