"""Training into the space of an earlier model: Tables 1 and 2 of Bhat et al. 2019 on job titles."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import polars as pl
import torch

from benchmarks.grids import Grid
from benchmarks.query_figures import Seeds, figures, gains
from benchmarks.results import Row
from benchmarks.studies.frozen_space.spaces import METRICS, in_space, values
from benchmarks.timing import Work, alternate
from benchmarks.title_networks import TitleNetworks, updates
from benchmarks.tuning import TRIAL_SEED, bounded, learning, one_thread, seeded, tuned
from benchmarks.workspace import Exam, Workspace
from models.network.kinds import loss_settings
from models.training.run import TrainSettings
from models.training.title_run import TitleRun
from tasks.params.network import training_settings
from tasks.params.whole import AllParams

EARLIER, FREE, OWN = "earlier", "free", "own_index"
DENSITY = "von_mises_fisher"
RATES = (0.003, 0.01)
FROZEN = ("most_informative", "random", "difference", "projection")
TRAINABLE = ("max", "mix", "semihard")
COMPARED: dict[str, dict[str, str]] = {
    DENSITY: {"kind": "von_mises_fisher"},
    **{name: {"kind": "frozen_margin", "negatives": name} for name in FROZEN},
    **{name: {"kind": "margin", "negatives": name} for name in TRAINABLE},
}
"""What of each system's loss differs from the values of its kind in `params.yaml`; less `free`."""
VARIED = {
    "von_mises_fisher": ("norm_penalty", (0.0, 0.02, 0.1)),
    "frozen_margin": ("margin", (0.25, 0.5, 1.0)),
    "margin": ("margin", (0.2, 0.4, 0.8)),
    "contrastive": ("margin", (0.2, 0.4, 0.6)),
    "info_nce": ("temperature", (0.05, 0.1, 0.2)),
}
"""What the trials of a kind differ in besides the learning rate."""
TIMES = 20  # losses of a repeat


def measure(dataset: str, options: argparse.Namespace) -> Iterator[list[Row]]:
    """Tune and train all networks, then ask and time them."""
    workspace = Workspace.read(dataset)
    exam, earlier = workspace.exam(), workspace.model(options.earlier, workspace.seed)
    pairs = workspace.pairs(options.mix)
    networks = TitleNetworks(options.kept, options.processes, pairs, earlier)
    candidates = list(grids(workspace.params, options.trial_steps))
    chosen = tuned(candidates, networks, "valid_success_at_1")
    settings = {
        system: bounded(own, options.steps, own.seed) for system, own in chosen.settings.items()
    }
    answers: dict[str, Seeds] = {}
    made = seeded(settings, options.seeds, networks)
    with one_thread():
        production = values(exam.network(earlier), exam)
        for system, outcomes in made.items():
            print(f"asking {system}", flush=True)
            answers[system] = {
                seed: _answers(network.folder, earlier, exam) for seed, network in outcomes.items()
            }
        rows = [
            *chosen.rows,
            *learning(made),
            *quality(answers, {workspace.seed: production}, exam),
        ]
        rows += speeds(settings, networks, options.repeats)
    yield rows


def systems(params: AllParams) -> dict[str, dict[str, str]]:
    """Return `COMPARED` and, as `free`, the loss of the workspace."""
    own = params.train.loss.kind
    if own not in VARIED:
        raise ValueError(f"train.loss.kind = {own}: choose one of {', '.join(VARIED)}")
    return {**COMPARED, FREE: {"kind": own}}


def grids(params: AllParams, steps: int) -> Iterator[Grid]:
    """Yield two learning rates with three values of what a loss has to be tuned for."""
    base = bounded(training_settings(params.network, TRIAL_SEED), steps)
    for system, changes in systems(params).items():
        kind = changes["kind"]
        name, candidates = VARIED[kind]
        loss = loss_settings({**params.losses[kind], **changes})
        axes = {"learning_rate": RATES, f"loss.{name}": candidates}
        yield Grid(system, replace(base, loss=loss), axes)


def beside(stored: pl.DataFrame, own: pl.DataFrame) -> pl.DataFrame:
    """Return one frame of both, the second as tests `own_index/TEST`."""
    return pl.concat([stored, own.with_columns(pl.format(f"{OWN}/{{}}", "test").alias("test"))])


def quality(networks: Mapping[str, Seeds], earlier: Seeds, exam: Exam) -> Iterator[Row]:
    """Yield figures of all systems, and differences: to `free` with its own index, to the earlier.

    The margins into a frozen space are compared with von Mises-Fisher as well, as in the paper.
    """
    prefix, params = f"{OWN}/", exam.params
    own = pl.col("test").str.starts_with(prefix)
    renamed = pl.col("test").str.strip_prefix(prefix)
    # the same under both names: whatever index another system is asked with, it meets this one
    free = {
        seed: beside(*[frame.filter(own).with_columns(renamed)] * 2)
        for seed, frame in networks[FREE].items()
    }
    production = {seed: beside(frame, frame) for seed, frame in earlier.items()}
    for system, by_seed in {**networks, EARLIER: earlier}.items():
        rows = figures(system, by_seed, METRICS, params)
        # the earlier model has one seed, whose figures are those of all
        yield from (row for row in rows if system != EARLIER or row.seed is None)
        others = {seed: frame.filter(~own) for seed, frame in by_seed.items()}
        theirs = others if system == FREE else by_seed
        yield from gains(system, theirs, free, "gain_over_free", params)
        if system != EARLIER:
            yield from gains(system, by_seed, production, "gain_over_earlier", params)
        if system in FROZEN:
            metric = f"gain_over_{DENSITY}"
            yield from gains(system, by_seed, networks[DENSITY], metric, params)


def speeds(
    settings: Mapping[str, TrainSettings], networks: TitleNetworks, repeats: int
) -> list[Row]:
    """Measure similar pairs a second of each loss alone and of whole updates, all in turn."""
    runs = {system: networks.started(own)[0] for system, own in settings.items()}
    works = [_loss_alone(system, run) for system, run in runs.items()]
    trained = [
        updates(
            system,
            run,
            "examples_per_second",
            lambda run, step: len(run.batches.similar_rows(step)),
        )
        for system, run in runs.items()
    ]
    return alternate([*works, *trained], repeats)


def _answers(folder: Path, earlier: Path, exam: Exam) -> pl.DataFrame:
    """Return what a network makes of all queries among the stored aliases, and among its own."""
    stored = values(in_space(folder, earlier, exam.index.titles), exam)
    return beside(stored, values(exam.network(folder), exam))


def _loss_alone(system: str, run: TitleRun) -> Work:
    """Prepare the loss and its gradient at the embeddings of a batch; the encoder does nothing."""
    rows, batch = run.batch(0)
    with torch.no_grad():
        embeddings = run.encoder(*run.strings.batch(rows))

    def losses() -> float:
        for _ in range(TIMES):
            leaf = embeddings.clone().requires_grad_()
            run.loss(leaf, batch, run.settings.loss).total.backward()  # type: ignore[no-untyped-call]
        return float(TIMES * len(run.batches.similar_rows(0)))

    return Work(system, "loss_alone", "examples_per_second", losses)
