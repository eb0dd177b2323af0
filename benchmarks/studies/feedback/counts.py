"""How much a number of verdicts does: mix 4c with few of them, with every seed, on every test."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import polars as pl

from benchmarks.query_figures import Seeds, figures, gains, gains_of_seeds
from benchmarks.results import Row
from benchmarks.studies.feedback.rates import queries_of_titles
from benchmarks.studies.feedback.training import Training
from benchmarks.studies.feedback.variants import counted
from benchmarks.workspace import Exam
from tasks.evaluation.systems import read_index
from tasks.files.frames import read_frame
from tasks.files.queries import read_queries
from tasks.files.schemas import JUDGED

JUDGED_TITLES = "judged"
METRICS = {"success_at_1": "success_at_1"}


def measure_counts(
    training: Training, counts: Sequence[int], seeds: Sequence[int]
) -> Iterator[list[Row]]:
    """Yield the rows of each number of verdicts; those of 0 are what the others are compared to."""
    exam = read_exam(training)
    before = by_seed(counted(0), training, exam, seeds)
    for most in counts:
        print(f"{most} verdicts", flush=True)
        system = counted(most)
        after = by_seed(system, training, exam, seeds)
        known = min(most, len(training.material.verdicts))
        rows = [
            Row(system, JUDGED_TITLES, "verdicts", known, known),
            *figures(system, after, METRICS, exam.params),
        ]
        if most:
            rows += gains(system, after, before, "gain_over_3", exam.params)
        if most and len(seeds) > 1:
            rows += gains_of_seeds(system, after, before, "gain_of_seeds")
        yield rows


def by_seed(system: str, training: Training, exam: Exam, seeds: Sequence[int]) -> Seeds:
    """Return the values of each seed's network by query."""
    return {seed: exam.answers(training.model(system, seed)).drop("system") for seed in seeds}


def read_exam(training: Training) -> Exam:
    """Read the queries of tests and validation, and the judged titles with a known occupation."""
    data = training.workspace.data
    valid = read_queries("valid", data)
    judged = read_frame(data / "feedback/judged.parquet", JUDGED).drop_nulls("occupation_id")
    titles = judged.unique("normalized", keep="first", maintain_order=True)
    asked = queries_of_titles(
        titles.select(
            "raw_title",
            occupation_ids=pl.concat_list("occupation_id"),
            source=pl.when("reserved").then(pl.lit("reserved")).otherwise(pl.lit("trained")),
        ),
        JUDGED_TITLES,
    )
    reserved = asked.filter(source="reserved")
    named = [
        read_queries("test", data),
        valid.with_columns(test=pl.format("{}/part:valid", "test")),
        asked,
        reserved.with_columns(test=pl.lit(f"{JUDGED_TITLES}/source:reserved")),
    ]
    return Exam(training.workspace.params, read_index(data), pl.concat(named))
