"""The lexical baselines on ESCO and real vacancy titles, straight from the publishers' files.

`$ROLECALL_DATA/esco/occupations_en.csv` is the whole index (every alias, nothing held out) and
`$ROLECALL_DATA/jobbert/titles.csv` the queries; gold is a query's label. This checks matchers and
measures against figures of another program, in which an occupation scores as its best alias; the
pipeline's own splits play no part, and of `params.yaml` it takes the rest of the sections `lexical`
and `evaluate` and the seed.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterator
from pathlib import Path

import polars as pl

from benchmarks.query_figures import figures
from benchmarks.results import Row
from benchmarks.workspace import Exam, data_folder
from models.answer.index import AliasIndex
from models.text.titles import clean_title
from tasks.files.schemas import QUERIES
from tasks.files.tables import METRICS
from tasks.files.titles import with_readings
from tasks.lexical import lexical_systems
from tasks.params.whole import AllParams, load_params

TEST = "vacancy_titles"


def measure(dataset: str, options: argparse.Namespace) -> Iterator[list[Row]]:
    """Yield the figures of each system."""
    exam = read(data_folder(), load_params())
    for system, similarities in lexical_systems(exam.index.titles, exam.params.lexical).items():
        scores = {0: exam.scores(similarities).drop("system")}
        yield [row for row in figures(system, scores, METRICS, exam.params) if row.seed is None]


def read(data: Path, params: AllParams) -> Exam:
    """Read both files as published; empty titles are left out."""
    aliases = [
        (clean_title(title), row["conceptUri"])
        for row in _records(data / "esco" / "occupations_en.csv")
        for title in [row["preferredLabel"], *row["altLabels"].split("\n")]
        if title.strip()
    ]
    records = [
        (str(number), row["vacancyTitle"], [row["conceptUri"]])
        for number, row in enumerate(_records(data / "jobbert" / "titles.csv"))
    ]
    named = pl.DataFrame(records, ["query_id", "raw_title", "occupation_ids"], orient="row")
    queries = with_readings(named).with_columns(
        test=pl.lit(TEST),
        part=pl.lit("test"),
        occupation_size=pl.lit(1, pl.UInt32),
        source=pl.lit("input"),
    )
    titles, occupation_ids = zip(*aliases, strict=True)
    best = params.evaluate.model_copy(update={"occupation_score": "best"})
    return Exam(
        params.model_copy(update={"evaluate": best}),
        AliasIndex.of(titles, occupation_ids),
        queries.select(list(QUERIES)),
    )


def _records(path: Path) -> Iterator[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        yield from csv.DictReader(file)
