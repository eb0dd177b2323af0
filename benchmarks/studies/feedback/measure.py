"""What makes feedback hurt, and what does not: variants of mixes 4 and 4c, trained and tested."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from benchmarks.query_figures import figures, gains
from benchmarks.results import Row
from benchmarks.studies.feedback.exam import read_exam
from benchmarks.studies.feedback.pairs import read_material
from benchmarks.studies.feedback.rates import side_effects
from benchmarks.studies.feedback.training import DEVICE, Training
from benchmarks.studies.feedback.variants import CONTROL, VARIANTS, variant
from benchmarks.workspace import Workspace

__all__ = ["DEVICE"]

METRICS = {"success_at_1": "success_at_1"}


def measure(dataset: str, options: argparse.Namespace) -> Iterator[list[Row]]:
    """Yield the rows of each variant, once its networks are trained."""
    workspace = Workspace.read(dataset)
    names = list(VARIANTS) if options.variants == ["all"] else options.variants
    material = read_material(workspace, {variant(name).opinions for name in names})
    training = Training(workspace, material, options.kept, options.steps or None)
    exam = read_exam(workspace, material)
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
        rows += figures(name, after, METRICS, exam.params)
        if name != CONTROL:
            rows += gains(name, after, control, "gain_over_3", exam.params)
            rows += side_effects(name, control, after, draws, exam.params.seed)
        yield [*rows, *training.learned(name)]
