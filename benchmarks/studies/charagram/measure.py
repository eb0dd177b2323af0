"""Bags of n-grams beside others: Tables 1 and 3 and Figure 1 of Wieting et al. 2016."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from statistics import mean

from benchmarks.networks.pair_networks import PairNetwork, PairNetworks, gold_of
from benchmarks.networks.runner import learning, seeded, tuned
from benchmarks.pages.plots import curves, svg
from benchmarks.pages.tables import distinct, where
from benchmarks.pair_figures import Figures, compared, gains, mean_over_sets, rows_of, word_overlap
from benchmarks.results import Lines, Row
from benchmarks.studies.charagram.word_pairs import StudyPairs, read
from benchmarks.study import study
from benchmarks.workspace import data_folder
from models.training.run import TrainSettings

LONGEST = 1000  # characters or words of a string: none is cut
FIRST = "ngram_bag"  # what the others are compared with
STS = ("sts", "pearson")
CURVES = {"spearman": "ρ on SimLex-999", "valid_success_at_1": "held-out links found"}
SEEN = "examples_"


def measure(dataset: str, options: argparse.Namespace) -> Iterator[list[Row]]:
    """Train all networks on word links, and test them on words and sentences."""
    data = read(data_folder())
    tests = {"simlex": data.simlex, **data.sentences}
    sides = data.train, data.valid
    networks = PairNetworks(options.kept, options.processes, *sides, tests, data.simlex)
    made = seeded(systems(dataset, options), options.seeds, networks)
    rows = [*learning(made), *rows_of_all(made, data, options.batch)]
    overlap = {name: word_overlap(pairs) for name, pairs in data.sentences.items()}
    yield [*rows, *rows_of("word_overlap", of_sentences([overlap], data))]


def systems(dataset: str, options: argparse.Namespace) -> dict[str, TrainSettings]:
    """Return the settings of every network, ended by its examples alone."""
    every, steps = max(1, options.every // options.batch), options.examples // options.batch
    bounds = {"max_steps": steps, "evaluate_every": every, "patience": steps + 1}
    common = {"max_length": LONGEST, "dim": options.dim}
    bounds["batch_pairs"] = options.batch
    return tuned(study("charagram").config, dataset, common, bounds)


def rows_of_all(
    made: Mapping[str, Mapping[int, PairNetwork]], data: StudyPairs, batch: int
) -> Iterator[Row]:
    """Yield the figures and curves of every system, and the gains of the first over the others."""
    figures = {system: judged(list(by_seed.values()), data) for system, by_seed in made.items()}
    for system, by_seed in made.items():
        yield from rows_of(system, figures[system], by_seed)
        for seed, network in by_seed.items():
            yield from curve(system, seed, network, data, batch)
        if system != FIRST:
            added = gains(figures[FIRST], figures[system])
            yield from rows_of(f"{FIRST}-{system}", added, by_seed)


def judged(networks: Sequence[PairNetwork], data: StudyPairs) -> Figures:
    """Return a system's figures by test and metric: ρ of words, r of sentences."""
    answers = [network.answers["simlex"] for network in networks]
    words = compared("spearman", answers, gold_of(data.simlex), "simlex")
    sentences = of_sentences([network.answers for network in networks], data)
    return {("simlex", "spearman"): words, **sentences}


def of_sentences(answers: Sequence[Mapping[str, list[float]]], data: StudyPairs) -> Figures:
    """Return Pearson's r on each set of sentences, and its mean over the STS sets."""
    figures = {
        (test, "pearson"): compared("pearson", [own[test] for own in answers], gold_of(pairs), test)
        for test, pairs in data.sentences.items()
    }
    sets = [figure for (test, _), figure in figures.items() if test.startswith("sts")]
    return figures | {STS: mean_over_sets(sets)}


def curve(
    system: str, seed: int, network: PairNetwork, data: StudyPairs, batch: int
) -> Iterator[Row]:
    """Yield Figure 1: ρ on SimLex and the validation score, by examples seen."""
    for look, spearman in zip(network.looks, network.tracked, strict=True):
        test = f"{SEEN}{look.step * batch:07d}"
        yield Row(system, test, "spearman", spearman, len(data.simlex), seed=seed)
        score, count = look.valid_score, len(data.valid)
        yield Row(system, test, "valid_success_at_1", score, count, seed=seed)


def plot(rows: Lines) -> str:
    """Draw Figure 1 of the paper: means over seeds by examples seen."""
    rows = [row for row in rows if row["test"].startswith(SEEN)]
    ticks = sorted(distinct(rows, "test"))
    panels = {}
    for metric, title in CURVES.items():
        panels[title] = [
            (system, [mean(float(row["value"]) for row in where(own, test=t)) for t in ticks])
            for system in distinct(rows, "system")
            if (own := where(rows, metric=metric, system=system))
        ]
    seen = [float(tick.removeprefix(SEEN)) / 1000 for tick in ticks]
    return svg("charagram", lambda whole: curves(whole, seen, panels, "thousand pairs seen"))
