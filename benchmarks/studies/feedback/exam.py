"""What every variant is asked: the tests, validation's and the gate's queries, judged titles."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from benchmarks.studies.feedback.opinions import PIPELINE
from benchmarks.studies.feedback.pairs import Material
from benchmarks.studies.feedback.rates import (
    corrected_queries,
    queries_of_titles,
    reworded_queries,
)
from benchmarks.workspace import Exam, Workspace
from tasks.augment.superfluous import learn
from tasks.evaluation.systems import read_index
from tasks.files.frames import read_frame
from tasks.files.queries import read_queries
from tasks.files.schemas import EXTRA_WORDS_VARIANTS, JUDGED
from tasks.files.titles import normalized

PARTS = ("test", "valid", "gate")
SLICED = ("extra_words",)
"""Tests whose sources are asked apart."""
JUDGED_TITLES = "judged"


def read_exam(workspace: Workspace, material: Material) -> Exam:
    """Read all queries; a part or a slice of a test is a test of its own, `typos/part:gate`."""
    frames = [frame for part in PARTS for frame in _of_part(workspace, part)]
    frames += [*_judged(workspace), *_corrected(workspace, material)]
    return Exam(workspace.params, read_index(workspace.data), pl.concat(frames))


def tests(workspace: Workspace) -> set[str]:
    """Return the names of the tests and of their slices, as `read_exam` has them."""
    return {str(test) for frame in _of_part(workspace, "test") for test in frame["test"].unique()}


def _of_part(workspace: Workspace, part: str) -> Iterator[pl.DataFrame]:
    ending = "" if part == "test" else f"/part:{part}"
    queries = read_queries(part, workspace.data)
    yield queries.with_columns(test=pl.format("{}{}", "test", pl.lit(ending)))
    sliced = queries.filter(pl.col("test").is_in(SLICED))
    yield sliced.with_columns(test=pl.format("{}/source:{}{}", "test", "source", pl.lit(ending)))


def _judged(workspace: Workspace) -> Iterator[pl.DataFrame]:
    """Yield the judged titles with a known right occupation, then those that nothing trains on."""
    judged = read_frame(workspace.data / "feedback/judged.parquet", JUDGED)
    known = judged.drop_nulls("occupation_id")
    titles = known.unique("normalized", keep="first", maintain_order=True)
    asked = queries_of_titles(
        titles.select(
            "raw_title",
            occupation_ids=pl.concat_list("occupation_id"),
            source=pl.when("reserved").then(pl.lit("reserved")).otherwise(pl.lit("trained")),
        ),
        JUDGED_TITLES,
    )
    yield asked
    kept_back = asked.filter(source="reserved")
    yield kept_back.with_columns(test=pl.lit(f"{JUDGED_TITLES}/source:reserved"))


def _corrected(workspace: Workspace, material: Material) -> Iterator[pl.DataFrame]:
    params, verdicts = workspace.params, material.verdicts[PIPELINE]
    variants = workspace.data / "extra_words/variants.parquet"
    mined = read_frame(variants, EXTRA_WORDS_VARIANTS).filter(kind="mined", part="train")
    corrected = corrected_queries(verdicts)
    yield corrected
    yield reworded_queries(
        corrected,
        learn(mined["title"].to_list(), mined["variant"].to_list()),
        params.typos.test_share,
        {*normalized(material.strings["title"]), *verdicts["normalized"]},
        params.seed,
    )
