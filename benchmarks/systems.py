"""The systems that studies ask side by side: some that learn no pair, and networks of given pairs.

`ngram` and `tfidf` are fitted on the titles that they are compared with, so that frequencies are
theirs; `sentence_encoder` is the packaged one. `recurrent` is the network and the loss of Neculoiu
et al. 2016 as `params.yaml` has them, `champion` the network of the workspace; both see the same
pairs, in batches of one size and for as many steps.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import polars as pl

from benchmarks.query_figures import UNSEEDED, Seeds
from benchmarks.results import Row
from benchmarks.title_networks import TitleNetworks
from benchmarks.tuning import TRIAL_SEED, bounded, learning, one_thread, seeded
from models.answer.search import Similarities
from models.network.model_files import load_model
from models.training.run import TrainSettings
from tasks.evaluation.systems import network
from tasks.lexical import lexical_systems
from tasks.params.network import taught, training_settings
from tasks.params.training import KindParams
from tasks.params.whole import AllParams
from tasks.teacher.sentence_encoder import sentence_encoder

Ask = Callable[[Similarities], pl.DataFrame]
"""From a system to `test, query_id` and values by query."""


class Answered(NamedTuple):
    """What each system answered, and rows of how the trained ones learned."""

    values: dict[str, Seeds]
    learned: list[Row]


CHAMPION, RECURRENT, SENTENCES = "champion", "recurrent", "sentence_encoder"
UNTRAINED = ("ngram", "tfidf", SENTENCES)
SYSTEMS = (*UNTRAINED, RECURRENT, CHAMPION)


def answers(
    titles: list[str],
    ask: Ask,
    pairs: Path,
    teacher: Path,
    params: AllParams,
    options: argparse.Namespace,
) -> Answered:
    """Ask each of `options.systems`, trained with every seed if it is trained at all.

    Args:
        titles: cleaned, that similarities are to.
        ask: what is asked of each system.
        pairs: folder that networks are trained on.
        teacher: folder of what teaches the champion, if its parameters say that it is taught.
        params: of the networks.
        options: `systems, steps, batch, recurrent_rate, seeds, kept, processes`.

    Raises:
        ValueError: there is no system of that name.
    """
    if unknown := sorted(set(options.systems) - set(SYSTEMS)):
        raise ValueError(f"no systems {', '.join(unknown)}; choose {', '.join(SYSTEMS)}")
    answered: dict[str, Seeds] = {}
    with one_thread():
        for name, similarities in untrained(titles, params, options.systems):
            print(f"asking {name}", flush=True)
            answered[name] = {UNSEEDED: ask(similarities)}
    networks = TitleNetworks(options.kept, options.processes, pairs, teacher=teacher)
    trained = seeded(_settings(params, options), options.seeds, networks)
    with one_thread():
        for name, outcomes in trained.items():
            print(f"asking {name}", flush=True)
            answered[name] = {
                seed: ask(network(*load_model(own.folder), titles))
                for seed, own in outcomes.items()
            }
    return Answered(answered, list(learning(trained)))


def champion_settings(params: AllParams, steps: int, batch: int) -> TrainSettings:
    """Return the workspace's own network and teacher, for so many steps of so many pairs."""
    settings = taught(training_settings(params.network, TRIAL_SEED), params.teacher)
    return replace(bounded(settings, steps), batch_pairs=batch)


def recurrent_settings(params: AllParams, steps: int, batch: int, rate: float) -> TrainSettings:
    """Return the same with the sections `recurrent` and `contrastive`, and another rate."""
    changes = {
        "encoder": KindParams(kind="recurrent"),
        "loss": KindParams(kind="contrastive"),
        "compatible_with": "",
        "learning_rate": rate,
    }
    train = params.train.model_copy(update=changes)
    own = params.model_copy(update={"train": train})
    settings = bounded(training_settings(own.network, TRIAL_SEED), steps)
    return replace(settings, batch_pairs=batch)


def _settings(params: AllParams, options: argparse.Namespace) -> dict[str, TrainSettings]:
    size = options.steps, options.batch
    made = {
        RECURRENT: recurrent_settings(params, *size, options.recurrent_rate),
        CHAMPION: champion_settings(params, *size),
    }
    return {name: own for name, own in made.items() if name in options.systems}


def untrained(
    titles: list[str], params: AllParams, names: Sequence[str]
) -> Iterator[tuple[str, Similarities]]:
    """Yield those of `UNTRAINED` that are named, each compared with the same titles."""
    for name, similarities in lexical_systems(titles, params.lexical).items():
        if name in names:
            yield name, similarities
    if SENTENCES in names:
        yield SENTENCES, _sentences(titles)


def _sentences(titles: list[str]) -> Similarities:
    embed = sentence_encoder()
    index = embed(titles).T
    return lambda queries: embed(queries) @ index
