"""Every encoder with several losses on the job-title tests: accuracy, size and speed."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.networks.runner import bounded, learning, one_thread, seeded, with_values
from benchmarks.networks.title_networks import TitleNetwork, TitleNetworks
from benchmarks.pages.plots import against_costs, scatters, svg
from benchmarks.pages.tables import MARK, UNLEARNED, where
from benchmarks.query_figures import Seeds, figures, gains, pooled
from benchmarks.results import Lines, Row
from benchmarks.study import study
from benchmarks.timing import Work, alternate
from benchmarks.workspace import VALID, Exam, Workspace
from models.network.embedding import embed_titles
from models.network.encoder import Encoder
from models.network.kinds import encoder_settings, loss_settings
from models.network.model_files import load_model
from models.text.featurizer import Featurizer
from models.text.titles import clean_title
from models.training.run import TrainSettings
from tasks.check_params import AllParams
from tasks.io.frames import read_frame
from tasks.io.schemas import SCORES
from tasks.pipeline.train.network_params import training_settings

METRICS = {"success_at_1": "success_at_1", "reciprocal_rank": "mrr"}
LEXICAL = ("ngram", "tfidf")
COSTS = {
    "titles encoded a second, one thread": ("encoding", "titles_per_second"),
    "megabytes": ("training", "megabytes"),
}
"""Label of a panel to test and metric."""


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
                seed: exam.answers(network.folder) for seed, network in outcomes.items()
            }
        lexical = workspace.data / "lexical/scores.parquet"
        rows = [*learning(made), *quality(values, exam), *lacks(values, exam, lexical)]
        titles = exam.queries["raw_title"].to_list()[: options.titles]
        rows += costs(made, titles, options.repeats)
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
    """Yield each network's figures, and differences to the best on validation queries."""
    first = best(values)
    for system, by_seed in values.items():
        yield from figures(system, by_seed, METRICS, exam.params)
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


def costs(
    made: Mapping[str, Mapping[int, TitleNetwork]], titles: list[str], repeats: int
) -> Iterator[Row]:
    """Yield the size of each `ENCODER+LOSS`, and the encoding speed of each `ENCODER`."""
    models = {system: load_model(by_seed[1].folder) for system, by_seed in made.items()}
    encoders = {system.partition("+")[0]: model for system, model in models.items()}

    def work(name: str, featurizer: Featurizer, encoder: Encoder) -> Work:
        def encode() -> float:
            cleaned = [clean_title(title) for title in titles]
            return len(embed_titles(encoder, featurizer, cleaned))

        return Work(name, "encoding", "titles_per_second", encode)

    yield from alternate([work(name, *model) for name, model in encoders.items()], repeats)
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
