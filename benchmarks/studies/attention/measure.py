"""A Siamese LSTM with and without attention: Table I of Bao et al. 2018, in English."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

from benchmarks.networks.pair_networks import PairNetwork, PairNetworks, gold_of, scaled_pairs
from benchmarks.networks.runner import learning, seeded, tuned
from benchmarks.pair_figures import Figures, compared, gains, rows_of, separated, word_overlap
from benchmarks.results import Row
from benchmarks.study import study
from benchmarks.workspace import data_folder
from models.metrics.correlations import Measure
from models.training.run import TrainSettings
from models.training.scored_pairs import ScoredPairs
from tasks.papers.similarity.pair_files import PARAPHRASE_PARTS
from tasks.papers.similarity.readers.tab_separated import MSRP, SICK, read_pairs
from tasks.papers.similarity.similarity_measures import best_threshold
from tasks.papers.similarity.training_pairs import training_pairs
from tasks.tables.rejected import RejectedRows

PUBLISHED = {"sick": (SICK, "sts/sick2014"), "msrp": (MSRP, "sts/msrp")}
GAINS = (("attentive_lstm", "lstm"), ("attentive_bilstm", "bilstm"))
CORRELATIONS: tuple[Measure, ...] = ("pearson", "spearman", "mean_squared_error")


class Parts(NamedTuple):
    """A data set; training and validation pairs that are test pairs as well are left out."""

    train: ScoredPairs
    valid: ScoredPairs
    test: ScoredPairs


def measure(dataset: str, options: argparse.Namespace) -> Iterator[list[Row]]:
    """Train and ask all networks."""
    parts = read(dataset, data_folder())
    tests = {"valid": parts.valid, "test": parts.test}
    networks = PairNetworks(options.kept, options.processes, parts.train, parts.valid, tests)
    made = seeded(systems(dataset, options), options.seeds, networks)
    yield [*learning(made), *rows_of_all(dataset, parts, made)]


def read(dataset: str, data: Path) -> Parts:
    """Read the publisher's three files."""
    publisher, folder = PUBLISHED[dataset]
    files = {split: data / folder / name for split, name in publisher.files.items()}
    pairs = read_pairs(publisher, files, RejectedRows())
    learned = training_pairs(pairs, pl.DataFrame(schema=dict(PARAPHRASE_PARTS)), dataset)
    test = scaled_pairs(pairs.filter(split="test"))
    return Parts(learned.train, learned.valid, test)


def systems(dataset: str, options: argparse.Namespace) -> dict[str, TrainSettings]:
    """Return the settings of every network."""
    config, steps = study("attention").config, options.steps
    bounds = {"max_steps": steps, "evaluate_every": options.every, "patience": options.patience}
    return tuned(config, dataset, config["training"]["encoder"], bounds)


def rows_of_all(
    dataset: str, parts: Parts, made: Mapping[str, Mapping[int, PairNetwork]]
) -> Iterator[Row]:
    """Yield test figures of the networks and of the baselines, and the gains by attention."""
    figures = {
        system: judged(dataset, list(by_seed.values()), parts) for system, by_seed in made.items()
    }
    for system, by_seed in made.items():
        yield from rows_of(system, figures[system], by_seed)
    for attentive, last in GAINS:
        added = gains(figures[attentive], figures[last])
        yield from rows_of(f"{attentive}-{last}", added, made[last])
    for system, baseline in baselines(dataset, parts).items():
        yield from rows_of(system, judged(dataset, [baseline], parts))


def judged(dataset: str, networks: Sequence[PairNetwork], parts: Parts) -> Figures:
    """Return measures of one system's seeds on the test pairs; gold is in [0, 1]."""
    answers = [network.answers["test"] for network in networks]
    gold = gold_of(parts.test)
    if dataset == "msrp":
        right = gold_of(parts.valid)
        cuts = [best_threshold(np.array(made.answers["valid"]), right) for made in networks]
        return {("test", "accuracy"): separated(answers, gold, cuts, dataset)}
    return {
        ("test", measure): compared(measure, answers, gold, dataset) for measure in CORRELATIONS
    }


def baselines(dataset: str, parts: Parts) -> dict[str, PairNetwork]:
    """Return baselines that learn nothing: shared words, and the larger of two kinds of pairs."""
    both = {"valid": parts.valid, "test": parts.test}
    answers = {"word_overlap": {name: word_overlap(pairs) for name, pairs in both.items()}}
    if dataset == "msrp":
        answers["majority"] = {name: [1.0] * len(pairs) for name, pairs in both.items()}
    return {system: PairNetwork([], scores, []) for system, scores in answers.items()}
