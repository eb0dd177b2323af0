"""A Siamese LSTM with and without attention: Table I of Bao et al. 2018, in English."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import polars as pl

from benchmarks.networks import learning, seeded, tuned
from benchmarks.pair_networks import (
    Figures,
    PairNetwork,
    PairNetworks,
    compared,
    gains,
    gold_of,
    rows_of,
    scaled_pairs,
    separated,
    word_overlap,
)
from benchmarks.results import Row
from benchmarks.study import study
from benchmarks.workspace import data_folder
from models.metrics.correlations import Measure
from models.training.loop import TrainSettings
from models.training.scored_run import ScoredPairs
from tasks.papers.similarity.pair_files import PARAPHRASE_PARTS
from tasks.papers.similarity.readers import MSRP, SICK, read_pairs
from tasks.papers.similarity.similarity_measures import best_threshold
from tasks.papers.similarity.similarity_train import training_pairs
from tasks.tables.rejected import RejectedRows

PUBLISHED = {"sick": (SICK, "sts/sick2014"), "msrp": (MSRP, "sts/msrp")}
GAINS = (("attentive_lstm", "lstm"), ("attentive_bilstm", "bilstm"))
CORRELATIONS: tuple[Measure, ...] = ("pearson", "spearman", "mean_squared_error")


def measure(dataset: str, options: argparse.Namespace) -> Iterator[list[Row]]:
    """Train and ask all networks."""
    train, tests = read(dataset, data_folder())
    networks = PairNetworks(options.kept, options.processes, train, tests["valid"], tests)
    made = seeded(systems(dataset, options), options.seeds, networks)
    yield [*learning(made), *rows_of_all(dataset, tests, made)]


def read(dataset: str, data: Path) -> tuple[ScoredPairs, dict[str, ScoredPairs]]:
    """Read the publisher's pairs to train on, none of them a test's, then `valid` and `test`."""
    publisher, folder = PUBLISHED[dataset]
    files = {split: data / folder / name for split, name in publisher.files.items()}
    pairs = read_pairs(publisher, files, RejectedRows())
    learned = training_pairs(pairs, pl.DataFrame(schema=dict(PARAPHRASE_PARTS)), dataset)
    test = scaled_pairs(pairs.filter(split="test"))
    return learned.train, {"valid": learned.valid, "test": test}


def systems(dataset: str, options: argparse.Namespace) -> dict[str, TrainSettings]:
    """Return the settings of every network."""
    config, every = study("attention").config, options.every
    bounds = {"max_steps": options.steps, "evaluate_every": every, "patience": options.patience}
    return tuned(config, dataset, config["training"]["encoder"], bounds)


def rows_of_all(
    dataset: str,
    tests: Mapping[str, ScoredPairs],
    made: Mapping[str, Mapping[int, PairNetwork]],
) -> Iterator[Row]:
    """Yield figures of the networks, gains by attention, and those of two untrained baselines."""
    figures = {
        system: figures_of(dataset, [network.answers for network in by_seed.values()], tests)
        for system, by_seed in made.items()
    }
    for system, by_seed in made.items():
        yield from rows_of(system, figures[system], by_seed)
    for attentive, last in GAINS:
        added = gains(figures[attentive], figures[last])
        yield from rows_of(f"{attentive}-{last}", added, made[last])
    overlap = {name: word_overlap(pairs) for name, pairs in tests.items()}
    yield from rows_of("word_overlap", figures_of(dataset, [overlap], tests))
    if dataset == "msrp":
        majority = {name: [1.0] * len(pairs) for name, pairs in tests.items()}
        yield from rows_of("majority", figures_of(dataset, [majority], tests))


def figures_of(
    dataset: str, answers: Sequence[Mapping[str, list[float]]], tests: Mapping[str, ScoredPairs]
) -> Figures:
    """Return measures of the answers of a system's seeds to the test pairs; gold is in [0, 1]."""
    own, gold = [by_test["test"] for by_test in answers], gold_of(tests["test"])
    if dataset == "msrp":
        right = gold_of(tests["valid"])
        cuts = [best_threshold(np.array(by_test["valid"]), right) for by_test in answers]
        return {("test", "accuracy"): separated(own, gold, cuts, dataset)}
    return {("test", name): compared(name, own, gold, dataset) for name in CORRELATIONS}
