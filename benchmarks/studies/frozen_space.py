"""Training into a reference model's space: Tables 1 and 2 of Bhat et al. 2019 on job titles."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.networks import TitleNetworks, bounded, learning, one_thread, seeded, with_values
from benchmarks.query_figures import UNSEEDED, Seeds, figures, gains
from benchmarks.results import Row
from benchmarks.study import study
from benchmarks.workspace import Workspace
from models.network.embedding import embed_titles
from models.network.kinds import load_model, loss_settings
from models.serving.search import Similarities
from models.training.loop import TrainSettings
from tasks.check_params import AllParams
from tasks.pipeline.train import training_settings

METRICS = {"success_at_1": "success_at_1", "success_at_10": "success_at_10"}
REFERENCE, FREE = "reference", "free"
DENSITY = "von_mises_fisher"
FROZEN = ("most_informative", "random", "difference", "projection")
TRAINABLE = ("max", "mix", "semihard")
COMPARED: dict[str, dict[str, str]] = {
    DENSITY: {"kind": "von_mises_fisher"},
    **{name: {"kind": "frozen_margin", "negatives": name} for name in FROZEN},
    **{name: {"kind": "margin", "negatives": name} for name in TRAINABLE},
}
"""Each system's changes to the values of its kind of loss in `params.yaml`, without `free`."""


def measure(dataset: str, options: argparse.Namespace) -> Iterator[list[Row]]:
    """Train all networks, then rank all queries among the aliases as the reference stored them."""
    workspace = Workspace.read(dataset)
    exam, reference = workspace.exam(), workspace.model(options.reference, workspace.seed)
    pairs = workspace.pairs(options.mix)
    networks = TitleNetworks(options.kept, options.processes, pairs, reference)
    tuned = study("frozen_space").config["tuned"][dataset]
    made = seeded(systems(workspace.params, tuned, options.steps), options.seeds, networks)
    with one_thread():
        ranked: dict[str, Seeds] = {}
        for system, outcomes in made.items():
            print(f"ranking by {system}", flush=True)
            ranked[system] = {
                seed: exam.scores(in_space(own.folder, reference, exam.index.titles))
                for seed, own in outcomes.items()
            }
        ranked[REFERENCE] = {UNSEEDED: exam.answers(reference)}
        free = {seed: exam.answers(own.folder) for seed, own in made[FREE].items()}
        yield [*learning(made), *quality(ranked, free, exam.params)]


def systems(
    params: AllParams, tuned: Mapping[str, Mapping[str, Any]], steps: int
) -> dict[str, TrainSettings]:
    """Return the settings of `COMPARED` and, as `free`, of the workspace's own loss."""
    base, made = bounded(training_settings(params.network, 1), steps), {}
    for system, changes in {**COMPARED, FREE: {"kind": params.train.loss.kind}}.items():
        loss = loss_settings({**params.losses[changes["kind"]], **changes})
        made[system] = with_values(replace(base, loss=loss), tuned[system])
    return made


def quality(ranked: Mapping[str, Seeds], free: Seeds, params: AllParams) -> Iterator[Row]:
    """Yield figures, and gains over `free`; of a frozen space's margins over `DENSITY` as well."""
    for system, by_seed in ranked.items():
        yield from figures(system, by_seed, METRICS, params)
        yield from gains(system, by_seed, free, "gain_over_free", params)
        if system in FROZEN:
            metric = f"gain_over_{DENSITY}"
            yield from gains(system, by_seed, ranked[DENSITY], metric, params)


def in_space(folder: Path, reference: Path, titles: Sequence[str]) -> Similarities:
    """Compare queries of the network in `folder` with titles as `reference` stored them."""
    featurizer, encoder = load_model(folder)
    before, first = load_model(reference)
    index = embed_titles(first, before, titles).T.contiguous()
    return lambda queries: (embed_titles(encoder, featurizer, list(queries)) @ index).numpy()
