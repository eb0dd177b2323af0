"""What makes feedback hurt, and what does not: variants of mixes 4 and 4c, trained and tested."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from benchmarks.query_figures import sliced, sliced_rows
from benchmarks.results import Row
from benchmarks.studies.feedback.counts import measure_counts
from benchmarks.studies.feedback.pairs import Material, read_material
from benchmarks.studies.feedback.rates import (
    CORRECTED,
    REWORDED,
    corrected_queries,
    held_out_rates,
    reworded_queries,
    same_occupation_ids,
)
from benchmarks.studies.feedback.training import DEVICE, Training
from benchmarks.studies.feedback.variants import CONTROL, VARIANTS
from benchmarks.workspace import Exam, Workspace
from tasks.augment.superfluous import learn
from tasks.evaluation.systems import read_index
from tasks.files.frames import read_frame
from tasks.files.queries import read_queries
from tasks.files.schemas import EXTRA_WORDS_VARIANTS
from tasks.files.titles import normalized
from tasks.table3.effects import effects, kept_up

__all__ = ["DEVICE"]

PARTS = ("valid", "test")
TEST_METRICS = {"success_at_1": "success_at_1", "reciprocal_rank": "mrr"}
STRING_METRICS = {"success_at_1": "fix_rate"}
STRINGS = pl.col("test").is_in([CORRECTED, REWORDED])
CANDIDATE = "4"
"""What a variant is called where it is judged (`tasks/table3/effects.py`)."""


def measure(dataset: str, options: argparse.Namespace) -> Iterator[list[Row]]:
    """Yield the rows of each variant, once it is trained."""
    workspace = Workspace.read(dataset)
    material = read_material(workspace)
    training = Training(workspace, material, options.kept, options.steps or None)
    if options.counts != [0]:
        yield from measure_counts(training, options.counts, range(1, options.seeds + 1))
    if not options.variants:
        return
    exams = {part: read_exam(workspace, material, part) for part in options.parts}
    seeds = workspace.params.seeds[: options.seeds]
    variants = list(VARIANTS) if options.variants == ["all"] else options.variants
    before = {
        (seed, part): questions.exam.answers(training.model(CONTROL, seed))
        for seed in seeds
        for part, questions in exams.items()
    }
    for number, name in enumerate(variants, 1):
        print(f"{name}, variant {number} of {len(variants)}", flush=True)
        rows: list[Row] = []
        for (seed, part), control in before.items():
            after = exams[part].exam.answers(training.model(name, seed), name)
            figures = list(string_figures(after, exams[part]))
            if part != "test" or not training.is_pipelines(name):
                figures += test_figures(after, exams[part])
            if name != CONTROL:
                figures += compared(control, after, exams[part])
            # the corrected strings are of no part: asked once
            rows += [
                row._replace(system=name, seed=seed, test=in_part(row.test, part))
                for row in figures
                if part == options.parts[0] or not is_of_strings(row.test)
            ]
        yield rows


@dataclass(frozen=True)
class Questions:
    """The queries of one part and the corrected strings, and whose occupations were corrected."""

    exam: Exam
    same_occupations: set[str]


def read_exam(workspace: Workspace, material: Material, part: str) -> Questions:
    """Read the tests of `part`, the corrected strings and their rewordings."""
    params, data = workspace.params, workspace.data
    queries = read_queries(part, data)
    mined = read_frame(data / "extra_words/variants.parquet", EXTRA_WORDS_VARIANTS).filter(
        (pl.col("kind") == "mined") & (pl.col("part") == "train")
    )
    corrected = corrected_queries(material.verdicts)
    reworded = reworded_queries(
        corrected,
        learn(mined["title"].to_list(), mined["variant"].to_list()),
        params.typos.test_share,
        {*normalized(material.strings["title"]), *material.verdicts["normalized"]},
        params.seed,
    )
    exam = Exam(params, read_index(data), pl.concat([queries, corrected, reworded]))
    return Questions(exam, same_occupation_ids(queries, corrected))


def test_figures(scores: pl.DataFrame, questions: Questions) -> Iterator[Row]:
    """Yield success@1 and MRR of each test and source."""
    yield from _by_source(scores.filter(~STRINGS), questions.exam, TEST_METRICS)


def string_figures(scores: pl.DataFrame, questions: Questions) -> Iterator[Row]:
    """Yield fix rates of the corrected strings and their rewordings."""
    yield from _by_source(scores.filter(STRINGS), questions.exam, STRING_METRICS)


def compared(before: pl.DataFrame, after: pl.DataFrame, questions: Questions) -> Iterator[Row]:
    """Yield gains over model 3, non-inferiority to it, fix rate and side effects."""
    exam = questions.exam
    draws, seed = exam.params.table3.bootstrap_draws, exam.params.seed
    both = pl.concat(
        scores.with_columns(system=pl.lit(name), seed=pl.lit(0, pl.Int64))
        for name, scores in ((CONTROL, before), (CANDIDATE, after))
    )
    gains = effects(both, exam.queries, draws, seed).filter(pl.col("metric") == "success_at_1")
    for line in gains.iter_rows(named=True):
        ends = line["n"], line["low"], line["high"]
        yield Row("", sliced(line["test"], line["slice"]), "gain_over_3", line["gain"], *ends)
    for line in kept_up(both, exam.queries, draws, seed).iter_rows(named=True):
        passed = float(line["passed"])
        yield Row("", sliced(line["test"], line["slice"]), "non_inferior", passed, line["n"])
    yield from held_out_rates(before, after, questions.same_occupations, draws, seed)


def in_part(test: str, part: str) -> str:
    """Return `typos/part:valid`; what is of no part keeps its name."""
    return test if part == "test" or is_of_strings(test) else f"{test}/part:{part}"


def is_of_strings(test: str) -> bool:
    """Say whether a test asks the corrected strings or their rewordings."""
    return test.partition("/")[0] in (CORRECTED, REWORDED)


def _by_source(scores: pl.DataFrame, exam: Exam, metrics: dict[str, str]) -> Iterator[Row]:
    """Yield whole tests, and the sources of those that have several."""
    sources = exam.queries.group_by("test").agg(several=pl.col("source").n_unique() > 1)
    several = set(sources.filter("several")["test"])
    for row in sliced_rows(scores, exam.queries, exam.params, metrics):
        test, _, part = row.test.partition("/")
        if not part or (part.startswith("source:") and test in several):
            yield row
