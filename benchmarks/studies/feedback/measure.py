"""What makes feedback hurt, and what does not: variants of mixes 4 and 4c, trained and tested."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from benchmarks.query_figures import figures, gains
from benchmarks.results import Row
from benchmarks.studies.feedback.exam import read_exam, tests
from benchmarks.studies.feedback.pairs import read_material
from benchmarks.studies.feedback.rates import side_effects
from benchmarks.studies.feedback.training import DEVICE, Training
from benchmarks.studies.feedback.variants import CONTROL, VARIANTS, variant
from benchmarks.workspace import Workspace

__all__ = ["DEVICE"]

METRICS = {"success_at_1": "success_at_1"}
TRAINED = {"4": "4/trained", "4c": "4c/trained"}
"""Names of networks that Table 3 asks with another index: judged titles stand in it."""


def measure(dataset: str, options: argparse.Namespace) -> Iterator[list[Row]]:
    """Yield the rows of each variant, once its networks are trained."""
    workspace = Workspace.read(dataset)
    names = list(VARIANTS) if options.variants == ["all"] else options.variants
    material = read_material(workspace, {variant(name).opinions for name in names})
    training = Training(workspace, material, options.kept, options.steps or None)
    exam = read_exam(workspace, material)
    asked = tests(workspace)
    draws, seeds = exam.params.evaluate.bootstrap_draws, range(1, options.seeds + 1)
    control = training.answers(CONTROL, seeds, exam)
    for number, name in enumerate(names, 1):
        print(f"{name}, variant {number} of {len(names)}", flush=True)
        known = material.known(variant(name), seeds[0])
        wrong = int((~known["right"]).sum())
        rows = [
            Row(name, "verdicts", "verdicts", len(known), len(known)),
            Row(name, "verdicts", "wrong", wrong, len(known)),
        ]
        after = training.answers(name, seeds, exam)
        for row in figures(name, after, METRICS, exam.params):
            of_seeds = seeds if row.seed is None else [row.seed]
            own = name == CONTROL and all(training.is_pipelines(name, seed) for seed in of_seeds)
            if not (own and row.test in asked):  # Table 3 has these: the same network and index
                rows.append(row)
        if name != CONTROL:
            rows += gains(name, after, control, "gain_over_3", exam.params)
            rows += side_effects(name, control, after, draws, exam.params.seed)
        rows += training.learned(name)
        yield [row._replace(system=TRAINED.get(name, name)) for row in rows]
