"""Training into a reference model's space: Tables 1 and 2 of Bhat et al. 2019 on job titles."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from benchmarks.networks.runner import bounded, learning, one_thread, seeded, with_values
from benchmarks.networks.title_networks import TitleNetworks
from benchmarks.query_figures import Seeds, figures, gains
from benchmarks.results import Row
from benchmarks.study import study
from benchmarks.workspace import Exam, Workspace
from models.network.embedding import embed_titles
from models.network.kinds import loss_settings
from models.network.model_files import load_model
from models.search.search import Similarities
from models.training.run import TrainSettings
from tasks.check_params import AllParams
from tasks.pipeline.train.network_params import training_settings

METRICS = {"success_at_1": "success_at_1", "success_at_10": "success_at_10"}
REFERENCE, FREE, OWN = "reference", "free", "own_index"
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
    """Train all networks, then rank all queries."""
    workspace = Workspace.read(dataset)
    exam, reference = workspace.exam(), workspace.model(options.reference, workspace.seed)
    pairs = workspace.pairs(options.mix)
    networks = TitleNetworks(options.kept, options.processes, pairs, reference)
    settings = systems(
        workspace.params, study("frozen_space").config["tuned"][dataset], options.steps
    )
    ranked: dict[str, Seeds] = {}
    made = seeded(settings, options.seeds, networks)
    with one_thread():
        production = exam.answers(reference).drop("system")
        for system, outcomes in made.items():
            print(f"ranking by {system}", flush=True)
            ranked[system] = {
                seed: answers(network.folder, reference, exam) for seed, network in outcomes.items()
            }
        compared = quality(ranked, {workspace.seed: production}, exam)
        yield [*learning(made), *compared]


def systems(
    params: AllParams, tuned: Mapping[str, Mapping[str, Any]], steps: int
) -> dict[str, TrainSettings]:
    """Return the settings of `COMPARED` and, as `free`, of the workspace's own loss."""
    base, made = bounded(training_settings(params.network, 1), steps), {}
    for system, changes in {**COMPARED, FREE: {"kind": params.train.loss.kind}}.items():
        loss = loss_settings({**params.losses[changes["kind"]], **changes})
        made[system] = with_values(replace(base, loss=loss), tuned[system])
    return made


def beside(stored: pl.DataFrame, own: pl.DataFrame) -> pl.DataFrame:
    """Return one frame of both, the second as tests `own_index/TEST`."""
    return pl.concat([stored, own.with_columns(pl.format(f"{OWN}/{{}}", "test").alias("test"))])


def quality(networks: Mapping[str, Seeds], reference: Seeds, exam: Exam) -> Iterator[Row]:
    """Yield figures of all systems, and gains over `free` in its own index and over the reference.

    The margins into a frozen space are compared with von Mises-Fisher as well, as in the paper.
    """
    prefix, params = f"{OWN}/", exam.params
    own = pl.col("test").str.starts_with(prefix)
    renamed = pl.col("test").str.strip_prefix(prefix)
    # the same under both names: another system is compared with it in either index
    free = {
        seed: beside(*[frame.filter(own).with_columns(renamed)] * 2)
        for seed, frame in networks[FREE].items()
    }
    production = {seed: beside(frame, frame) for seed, frame in reference.items()}
    for system, by_seed in {**networks, REFERENCE: reference}.items():
        rows = figures(system, by_seed, METRICS, params)
        # the reference model has one seed, whose figures are those of all
        yield from (row for row in rows if system != REFERENCE or row.seed is None)
        others = {seed: frame.filter(~own) for seed, frame in by_seed.items()}
        theirs = others if system == FREE else by_seed
        yield from gains(system, theirs, free, "gain_over_free", params)
        if system != REFERENCE:
            yield from gains(system, by_seed, production, "gain_over_reference", params)
        if system in FROZEN:
            metric = f"gain_over_{DENSITY}"
            yield from gains(system, by_seed, networks[DENSITY], metric, params)


def answers(folder: Path, reference: Path, exam: Exam) -> pl.DataFrame:
    """Return a network's scores of all queries: among the stored aliases, and among its own."""
    stored = exam.scores(in_space(folder, reference, exam.index.titles))
    return beside(stored.drop("system"), exam.answers(folder).drop("system"))


def in_space(folder: Path, reference: Path, titles: Sequence[str]) -> Similarities:
    """Compare queries of the network in `folder` with titles as `reference` stored them."""
    featurizer, encoder = load_model(folder)
    before, first = load_model(reference)
    index = embed_titles(first, before, titles).T.contiguous()
    return lambda queries: (embed_titles(encoder, featurizer, list(queries)) @ index).numpy()
