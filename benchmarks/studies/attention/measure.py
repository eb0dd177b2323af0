"""What attention adds to a Siamese LSTM: Tables I and II of Bao et al. 2018, in English."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

from benchmarks.grids import Grid
from benchmarks.pair_figures import Figures, compared, rows_of, told_apart, word_overlap
from benchmarks.pair_networks import PairNetwork, PairNetworks, gold_of
from benchmarks.results import Row
from benchmarks.study import study
from benchmarks.tuning import learning, seeded, tuned
from benchmarks.workspace import data_folder
from models.measures.correlations import Measure
from models.training.run import TrainSettings
from models.training.scored_pairs import ScoredPairs
from models.training.train_files import settings_from
from tasks.readers.rejected import RejectedRows
from tasks.scored.pair_files import PARAPHRASE_PARTS, scaled
from tasks.scored.readers import msrp, sick
from tasks.scored.similarity_measures import best_threshold
from tasks.scored.training_pairs import training_pairs

FILES = {
    "sick": (sick.read_sick, sick.FILES, "sts/sick2014"),
    "msrp": (msrp.read_msrp, msrp.FILES, "sts/msrp"),
}
GAINS = (("attentive_lstm", "lstm"), ("attentive_bilstm", "bilstm"))
BY_LENGTH = ("lstm", "attentive_lstm")
CORRELATIONS: tuple[Measure, ...] = ("pearson", "spearman", "mean_squared_error")


class Parts(NamedTuple):
    """A data set; training and validation pairs that are test pairs as well are left out."""

    train: ScoredPairs
    valid: ScoredPairs
    test: ScoredPairs
    left_out: int
    """Training pairs."""


def measure(dataset: str, options: argparse.Namespace) -> Iterator[list[Row]]:
    """Tune, train and ask all networks."""
    parts = read(dataset, data_folder())
    tuning = PairNetworks(options.kept, options.processes, parts.train, parts.valid)
    chosen = tuned(list(grids(options)), tuning, "valid_pearson")
    networks = replace(tuning, tests={"valid": parts.valid, "test": parts.test})
    rows = [*chosen.rows, *table1(dataset, parts, chosen.settings, networks, options)]
    if dataset == "sick":
        rows += table2(parts, chosen.settings, networks, options)
    yield rows


def read(dataset: str, data: Path) -> Parts:
    """Read the publisher's three files."""
    reader, files, folder = FILES[dataset]
    pairs = reader({part: data / folder / name for part, name in files.items()}, RejectedRows())
    learned = training_pairs(pairs, pl.DataFrame(schema=dict(PARAPHRASE_PARTS)), dataset)
    test = scaled(pairs.filter(pl.col("part") == "test"))
    judging = ScoredPairs.of(*(test[name].to_list() for name in ("left", "right", "score")))
    return Parts(learned.train, learned.valid, judging, learned.left_out["train"])


def grids(options: argparse.Namespace) -> Iterator[Grid]:
    """Yield the same six settings of every system."""
    face = study("attention").face
    for system, shape in face["encoders"].items():
        values = face["training"] | {"encoder": face["training"]["encoder"] | shape}
        settings = replace(
            settings_from(values),
            max_steps=options.steps,
            evaluate_every=options.every,
            patience=options.patience,
        )
        yield Grid(system, settings, face["tried"])


def table1(
    dataset: str,
    parts: Parts,
    settings: Mapping[str, TrainSettings],
    networks: PairNetworks,
    options: argparse.Namespace,
) -> Iterator[Row]:
    """Yield test figures of the tuned networks and of the baselines, and what attention adds."""
    made = seeded(settings, options.seeds, networks)
    figures = {
        system: judged(dataset, list(by_seed.values()), parts) for system, by_seed in made.items()
    }
    yield from learning(made)
    for system, by_seed in made.items():
        yield from rows_of(system, figures[system], by_seed)
        for seed, network in by_seed.items():
            yield Row(system, "training", "steps", network.looks[-1].step, 1, seed=seed)
    for attentive, last in GAINS:
        gains = {
            (test, f"gain_{name}"): own - figures[last][test, name]
            for (test, name), own in figures[attentive].items()
        }
        yield from rows_of(f"{attentive}-{last}", gains, made[last])
    for system, baseline in baselines(dataset, parts).items():
        yield from rows_of(system, judged(dataset, [baseline], parts))
    yield Row("data", "training", "pairs", len(parts.train), 1)
    yield Row("data", "training", "left_out", parts.left_out, 1)


def table2(
    parts: Parts,
    settings: Mapping[str, TrainSettings],
    networks: PairNetworks,
    options: argparse.Namespace,
) -> Iterator[Row]:
    """Yield the figures of two networks with fewer words read of each sentence."""
    shorter = {
        f"{system}/max_length:{length}": replace(
            settings[system], encoder=replace(settings[system].encoder, max_length=length)
        )
        for system in BY_LENGTH
        for length in options.lengths
    }
    made = seeded(shorter, options.seeds, networks)
    yield from learning(made)
    for system, by_seed in made.items():
        yield from rows_of(system, judged("sick", list(by_seed.values()), parts), by_seed)


def judged(dataset: str, networks: Sequence[PairNetwork], parts: Parts) -> Figures:
    """Return measures of one system's seeds on the test pairs; gold is in [0, 1]."""
    answers = [network.answers["test"] for network in networks]
    gold = gold_of(parts.test)
    if dataset == "msrp":
        right = gold_of(parts.valid)
        cuts = [best_threshold(np.array(made.answers["valid"]), right) for made in networks]
        return {("test", "accuracy"): told_apart(answers, gold, cuts, dataset)}
    return {
        ("test", measure): compared(measure, answers, gold, dataset) for measure in CORRELATIONS
    }


def baselines(dataset: str, parts: Parts) -> dict[str, PairNetwork]:
    """Return what learns nothing: shared words and, of two kinds of pairs, the larger one."""
    both = {"valid": parts.valid, "test": parts.test}
    answers = {"word_overlap": {name: word_overlap(pairs) for name, pairs in both.items()}}
    if dataset == "msrp":
        answers["majority"] = {name: [1.0] * len(pairs) for name, pairs in both.items()}
    return {system: PairNetwork([], said, [], 0) for system, said in answers.items()}
