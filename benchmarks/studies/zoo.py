"""Every encoder with several losses on the job-title tests: accuracy, size and speed."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import polars as pl

from benchmarks.networks import (
    TitleNetwork,
    TitleNetworks,
    bounded,
    learning,
    one_thread,
    seeded,
    with_values,
)
from benchmarks.plots import against_costs, scatters, svg
from benchmarks.query_figures import UNSEEDED, Seeds, figures, gains, pooled
from benchmarks.results import Lines, Row
from benchmarks.study import study
from benchmarks.systems import SPEED, Work, alternate
from benchmarks.tables import MARK, UNLEARNED, where
from benchmarks.workspace import VALID, Exam, Workspace
from models.network.embedding import embed_titles
from models.network.encoder import Encoder
from models.network.kinds import encoder_settings, load_model, loss_settings
from models.text.featurizer import Featurizer
from models.text.titles import clean_title
from models.training.loop import TrainSettings
from tasks.check_params import AllParams
from tasks.io.frames import read_frame
from tasks.io.schemas import SCORES
from tasks.pipeline.train import training_settings

METRICS = {"success_at_1": "success_at_1", "reciprocal_rank": "mrr"}
LEXICAL = ("ngram", "tfidf")
COSTS = {  # label of a panel to test and metric
    "titles encoded a second, one thread": ("encoding", SPEED),
    "megabytes": ("training", "megabytes"),
}


def measure(dataset: str, options: argparse.Namespace) -> Iterator[list[Row]]:
    """Train all networks, then rank all queries and time them."""
    workspace = Workspace.read(dataset)
    exam = workspace.exam()
    networks = TitleNetworks(options.kept, options.processes, workspace.pairs(options.mix))
    tuned = study("zoo").config["tuned"][dataset]
    made = seeded(systems(workspace.params, tuned, options), options.seeds, networks)
    values: dict[str, Seeds] = {}
    with one_thread():
        for system, outcomes in made.items():
            print(f"ranking by {system}", flush=True)
            values[system] = {seed: exam.answers(own.folder) for seed, own in outcomes.items()}
        lexical = read_frame(workspace.data / "lexical/scores.parquet", SCORES)
        rows = [*learning(made), *quality(values, lexical, exam)]
        titles = exam.queries["raw_title"].to_list()[: options.titles]
        yield [*rows, *costs(made, titles, options.repeats)]


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
            settings = replace(base, encoder=shape, loss=own, batch_pairs=options.batch)
            made[system] = with_values(settings, values)
    return made


def quality(values: dict[str, Seeds], lexical: pl.DataFrame, exam: Exam) -> Iterator[Row]:
    """Yield each network's figures, and every system's difference to the best network."""
    first = best(values)
    for system, by_seed in values.items():
        yield from figures(system, by_seed, METRICS, exam.params)
    others = {system: own for system, own in values.items() if system != first}
    others |= {name: {UNSEEDED: lexical.filter(system=name).drop("system")} for name in LEXICAL}
    for system, by_seed in others.items():
        yield from gains(system, by_seed, values[first], "gain_over_best", exam.params)


def best(values: dict[str, Seeds]) -> str:
    """Return the system with the highest success@1 of validation queries, over all seeds."""

    def valid(system: str) -> float:
        hits = pooled(values[system]).filter(test=VALID)["success_at_1"].to_numpy()
        return float(hits.mean()) if len(hits) else 0.0

    return max(values, key=valid)


def costs(
    made: Mapping[str, Mapping[int, TitleNetwork]], titles: list[str], repeats: int
) -> Iterator[Row]:
    """Yield the size of each `ENCODER+LOSS`, and the encoding speed of each `ENCODER`."""
    models = {system: load_model(by_seed[1].folder) for system, by_seed in made.items()}
    encoders = {system.partition("+")[0]: model for system, model in models.items()}

    def encode(featurizer: Featurizer, encoder: Encoder) -> None:
        embed_titles(encoder, featurizer, [clean_title(title) for title in titles])

    works = [
        Work(name, "encoding", SPEED, len(titles), partial(encode, *model))
        for name, model in encoders.items()
    ]
    yield from alternate(works, repeats)
    for system, (_, encoder) in models.items():
        size = sum(own.numel() * own.element_size() for own in encoder.state_dict().values())
        yield Row(system, "training", "megabytes", size / 1e6, 1)


def plot(rows: Lines) -> str:
    """Draw success@1 on Annotations against speed and size of the networks that learned."""
    rows = where(rows, dataset="sample")
    means = where(rows, metric="success_at_1", test="annotations", seed="")
    networks = [row for row in means if row[MARK] != UNLEARNED]
    panels = against_costs(rows, networks, COSTS)
    return svg("zoo", lambda whole: scatters(whole, panels, "success@1, annotations"))
