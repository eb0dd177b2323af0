"""Every encoder with several losses on the job-title tests: quality, size and speed."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.grids import Grid
from benchmarks.query_figures import Seeds, figures, gains, pooled
from benchmarks.results import Row
from benchmarks.studies.zoo.costs import costs
from benchmarks.title_networks import TitleNetworks
from benchmarks.tuning import TRIAL_SEED, bounded, learning, one_thread, seeded, tuned
from benchmarks.workspace import VALID, Exam, Workspace
from models.network.kinds import encoder_settings, kinds, loss_settings
from models.training.run import TrainSettings
from tasks.files.frames import read_frame
from tasks.files.schemas import SCORES
from tasks.params.network import training_settings
from tasks.params.whole import AllParams

LOSSES = ("contrastive", "margin", "info_nce")
RATES = (0.002, 0.005, 0.01)
METRICS = {
    "success_at_1": "success_at_1",
    "success_at_10": "success_at_10",
    "reciprocal_rank": "mrr",
}
LEXICAL = ("ngram", "tfidf")


def measure(dataset: str, options: argparse.Namespace) -> Iterator[list[Row]]:
    """Tune and train all networks, then ask and time them."""
    workspace = Workspace.read(dataset)
    exam = workspace.exam()
    networks = TitleNetworks(options.kept, options.processes, workspace.pairs(options.mix))
    encoders = kinds("encoders") if options.encoders == ["all"] else options.encoders
    base = training_settings(workspace.params.network, TRIAL_SEED)
    base = replace(bounded(base, options.trial_steps), batch_pairs=options.batch)
    candidates = grids(workspace.params, encoders, options.losses, options.trials, base)
    chosen = tuned(list(candidates), networks, "valid_success_at_1")
    settings = {
        system: bounded(own, options.steps, own.seed) for system, own in chosen.settings.items()
    }
    values: dict[str, Seeds] = {}
    made = seeded(settings, options.seeds, networks)
    with one_thread():
        for system, outcomes in made.items():
            print(f"asking {system}", flush=True)
            values[system] = {
                seed: exam.answers(network.folder).drop("system")
                for seed, network in outcomes.items()
            }
        lexical = workspace.data / "lexical/scores.parquet"
        rows = [
            *chosen.rows,
            *learning(made),
            *quality(values, exam),
            *lacks(values, exam, lexical),
        ]
        rows += costs(settings, networks, exam.titles(options.titles), options.repeats)
    yield rows


def grids(
    params: AllParams,
    encoders: Sequence[str],
    losses: Sequence[str],
    rates: Sequence[float],
    base: TrainSettings,
) -> Iterator[Grid]:
    """Yield every system at every learning rate; the rest is as `base` has it."""
    for encoder in encoders:
        shape = encoder_settings({"kind": encoder, **params.encoders[encoder]})
        for loss in losses:
            own = loss_settings({"kind": loss, **params.losses[loss]})
            settings = replace(base, encoder=shape, loss=own)
            yield Grid(f"{encoder}+{loss}", settings, {"learning_rate": rates})


def quality(values: dict[str, Seeds], exam: Exam) -> Iterator[Row]:
    """Yield the tests of every network, which one validation queries prefer, what others lack."""
    first = best(values)
    for system, by_seed in values.items():
        yield from figures(system, by_seed, METRICS, exam.params)
        yield Row(system, VALID, "is_best", float(system == first), 1)
        if system != first:
            yield from gains(system, by_seed, values[first], "gain_over_best", exam.params)


def lacks(values: dict[str, Seeds], exam: Exam, lexical: Path) -> Iterator[Row]:
    """Yield what the lexical systems lack of the best network."""
    first, scores = values[best(values)], read_frame(lexical, SCORES)
    for system in LEXICAL:
        once = {0: scores.filter(system=system).drop("system")}
        yield from gains(system, once, first, "gain_over_best", exam.params)


def best(values: dict[str, Seeds]) -> str:
    """Return the system with the highest success@1 of validation queries, over all seeds."""

    def valid(system: str) -> float:
        hits = pooled(values[system]).filter(test=VALID)["success_at_1"].to_numpy()
        return float(hits.mean()) if len(hits) else 0.0

    return max(values, key=valid)
