"""Networks with and without levels in their loss, and how far off their mistakes are."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl

from benchmarks.query_figures import Seeds, figures, gains
from benchmarks.results import Row
from benchmarks.studies.hierarchy.levels import LevelNetworks
from benchmarks.tuning import TRIAL_SEED, learning, seeded
from benchmarks.workspace import Exam, Workspace
from models.answer.search import Search
from tasks.files.frames import read_frame
from tasks.files.schemas import OCCUPATIONS
from tasks.params.network import training_settings
from tasks.score import predict

PLAIN = "levels_0"
SHARED = "digits_shared"
"""Digits of the code that a wrong answer shares with the right one; null where it is right."""

Codes = Mapping[str, Sequence[str]]


def measure(dataset: str, options: argparse.Namespace) -> Iterator[list[Row]]:
    """Yield the rows of each weight of the levels, once its networks are trained.

    Raises:
        ValueError: the taxonomy has no hierarchy, or not the same number of levels everywhere.
    """
    workspace = Workspace.read(dataset)
    codes = read_codes(workspace)
    exam = workspace.exam()
    settings = training_settings(workspace.params.network, TRIAL_SEED)
    settings = replace(settings, patience=settings.max_steps + 1)
    before: Seeds = {}
    for weight in (0.0, *options.weights):
        system = f"levels_{weight:g}"
        networks = LevelNetworks(
            options.kept,
            options.processes,
            workspace.pairs(options.mix),
            codes=codes,
            weight=weight,
            temperature=options.temperature,
        )
        made = seeded({system: settings}, options.seeds, networks)
        after = {seed: answers(exam, own.folder, codes) for seed, own in made[system].items()}
        names = [name for name in after[TRIAL_SEED].columns if name not in ("test", "query_id")]
        rows = list(figures(system, after, {name: name for name in names}, exam.params))
        before = before or after
        if weight:
            names.remove(SHARED)
            over = f"{system}-{PLAIN}"
            for name in names:
                rows += gains(over, after, before, f"gain_{name}", exam.params, name)
        yield [*learning(made), *rows]


def read_codes(workspace: Workspace) -> dict[str, list[str]]:
    """Return each occupation's groups, broad to narrow."""
    frame = read_frame(workspace.data / "ingest/occupations.parquet", OCCUPATIONS)
    codes: dict[str, list[str]] = dict(frame.select("occupation_id", "codes").rows())
    if len({len(own) for own in codes.values()}) != 1 or not min(map(len, codes.values())):
        raise ValueError(
            f"{workspace.data}/ingest/occupations.parquet: occupations have no hierarchy, or not "
            "equally many levels; a loss with levels needs the same for all"
        )
    return codes


def answers(exam: Exam, model: Path, codes: Codes) -> pl.DataFrame:
    """Return `test, query_id, digits_1 …, success_at_1, digits_shared` of each query.

    Of equal occupations the first by id is the answer. A query without a right occupation in the
    taxonomy shares nothing.
    """
    search = Search(exam.index, exam.network(model), exam.params.evaluate.rule)
    found = predict(exam.queries["cleaned"].to_list(), search)
    levels = range(1, len(next(iter(codes.values()))) + 1)
    rows = []
    for answer, gold in zip(found, exam.queries["occupation_ids"].to_list(), strict=True):
        mine, right = codes[answer.occupation_id], answer.occupation_id in gold
        shared = max((_shared(mine, codes[own]) for own in gold if own in codes), default=0)
        by_level = [float(shared >= level) for level in levels]
        rows.append((*by_level, float(right), None if right else float(shared)))
    names = [*(f"digits_{level}" for level in levels), "success_at_1", SHARED]
    values = pl.DataFrame(rows, schema=dict.fromkeys(names, pl.Float64), orient="row")
    return pl.concat([exam.queries.select("test", "query_id"), values], how="horizontal")


def _shared(mine: Sequence[str], other: Sequence[str]) -> int:
    same = [one == two for one, two in zip(mine, other, strict=True)]
    return same.index(False) if False in same else len(same)
