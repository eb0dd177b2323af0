"""Every encoder with several losses on the job-title tests: quality, size and speed."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.networks.runner import bounded, learning, one_thread, seeded, with_values
from benchmarks.networks.title_networks import TitleNetworks
from benchmarks.query_figures import Seeds, figures, gains, pooled
from benchmarks.results import Row
from benchmarks.studies.zoo.costs import costs
from benchmarks.study import study
from benchmarks.workspace import VALID, Exam, Workspace
from models.network.kinds import encoder_settings, loss_settings
from models.training.run import TrainSettings
from tasks.check_params import AllParams
from tasks.io.frames import read_frame
from tasks.io.schemas import SCORES
from tasks.pipeline.train.network_params import training_settings

METRICS = {"success_at_1": "success_at_1", "reciprocal_rank": "mrr"}
LEXICAL = ("ngram", "tfidf")


def measure(dataset: str, options: argparse.Namespace) -> Iterator[list[Row]]:
    """Train all networks, then rank all queries and time them."""
    workspace = Workspace.read(dataset)
    exam = workspace.exam()
    networks = TitleNetworks(options.kept, options.processes, workspace.pairs(options.mix))
    tuned = study("zoo").config["tuned"][dataset]
    settings = systems(workspace.params, tuned, options)
    values: dict[str, Seeds] = {}
    made = seeded(settings, options.seeds, networks)
    with one_thread():
        for system, outcomes in made.items():
            print(f"ranking by {system}", flush=True)
            values[system] = {
                seed: exam.answers(network.folder).drop("system")
                for seed, network in outcomes.items()
            }
        lexical = workspace.data / "lexical/scores.parquet"
        rows = [*learning(made), *quality(values, exam), *lacks(values, exam, lexical)]
        titles = exam.queries["raw_title"].to_list()[: options.titles]
        rows += costs(settings, networks, titles, options.repeats)
    yield rows


def systems(
    params: AllParams, tuned: Mapping[str, Mapping[str, Any]], options: argparse.Namespace
) -> dict[str, TrainSettings]:
    """Return the settings of every `ENCODER+LOSS` that is tuned and whose encoder is named."""
    base = bounded(training_settings(params.network, 1), options.steps)
    made = {}
    for system, values in tuned.items():
        encoder, loss = system.split("+")
        if "all" in options.encoders or encoder in options.encoders:
            shape = encoder_settings({"kind": encoder, **params.encoders[encoder]})
            own = loss_settings({"kind": loss, **params.losses[loss]})
            whole = replace(base, encoder=shape, loss=own, batch_pairs=options.batch)
            made[system] = with_values(whole, values)
    return made


def quality(values: dict[str, Seeds], exam: Exam) -> Iterator[Row]:
    """Yield each network's figures, the best on validation queries, and differences to the best."""
    first = best(values)
    for system, by_seed in values.items():
        yield from figures(system, by_seed, METRICS, exam.params)
        yield Row(system, VALID, "is_best", float(system == first), 1)
        if system != first:
            yield from gains(system, by_seed, values[first], "gain_over_best", exam.params)


def lacks(values: dict[str, Seeds], exam: Exam, lexical: Path) -> Iterator[Row]:
    """Yield the differences of the lexical systems to the best network."""
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
