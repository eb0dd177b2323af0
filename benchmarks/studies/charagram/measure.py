"""Bags of n-grams beside others: Tables 1, 3, 5 and 8 and Figure 1 of Wieting et al. 2016."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.grids import Grid
from benchmarks.pair_figures import Figures, compared, mean_over_sets, rows_of, word_overlap
from benchmarks.pair_networks import PairNetwork, PairNetworks, gold_of, strings
from benchmarks.results import Row
from benchmarks.studies.charagram.material import Material, read
from benchmarks.study import study
from benchmarks.tuning import TRIAL_SEED, learning, seeded, tuned
from benchmarks.workspace import data_folder
from models.training.run import TrainSettings
from models.training.train_files import settings_from

LONGEST = 1000  # characters or words of a string: none is cut
FIRST = "ngram_bag"  # what the others are compared with
OVERLAPPING = f"{FIRST}/overlapping"
SENTENCES = "sentences"
NEAREST = 3  # words that Table 8 shows
CELL_ORDERS = ((2,), (2, 3), (2, 3, 4), (2, 3, 4, 5), (2, 3, 4, 5, 6))
CELL_MOST = (100, 1000, 50000)
STS = ("sts", "pearson")
HEADLINES = (("simlex", "spearman"), STS, ("sick", "pearson"))


def measure(dataset: str, options: argparse.Namespace) -> Iterator[list[Row]]:
    """Tune, train and ask all networks."""
    material = read(data_folder())
    tuning = PairNetworks(options.kept, options.processes, material.train, material.valid)
    chosen = tuned(list(grids(options)), tuning, "valid_success_at_1")
    networks = replace(tuning, tests={"simlex": material.simlex, **material.sentences})
    rows = [*chosen.rows, *systems(material, chosen.settings, networks, options)]
    rows += overlapping(material, chosen.settings[FIRST], networks, options)
    rows += variants(material, chosen.settings, networks, options)
    rows += on_sentences(material, chosen.settings, networks, options)
    if options.cell_examples:
        rows += cells(material, chosen.settings[FIRST], networks, options)
    yield rows


def until(settings: TrainSettings, examples: int, options: argparse.Namespace) -> TrainSettings:
    """Return the same, ended by `examples` alone, with a look after each `every` of them."""
    steps, every = examples // options.batch, max(1, options.every // options.batch)
    return replace(settings, max_steps=steps, evaluate_every=every, patience=steps + 1)


def grids(options: argparse.Namespace) -> Iterator[Grid]:
    """Yield the same six ways to train each system."""
    face = study("charagram").face
    for system, shape in face["encoders"].items():
        encoder = {"kind": system, "max_length": LONGEST, "dim": options.dim, **shape}
        settings = settings_from(face["training"] | {"encoder": encoder})
        settings = replace(settings, batch_pairs=options.batch)
        yield Grid(system, until(settings, options.trial_examples, options), face["tried"])


def systems(
    material: Material,
    chosen: Mapping[str, TrainSettings],
    networks: PairNetworks,
    options: argparse.Namespace,
) -> Iterator[Row]:
    """Yield Tables 1 and 3 and Figure 1: every system with every seed, and the shared words."""
    settings = {system: until(own, options.examples, options) for system, own in chosen.items()}
    made = seeded(settings, options.seeds, replace(networks, watch=material.simlex))
    figures = {system: judged(list(by_seed.values()), material) for system, by_seed in made.items()}
    yield from learning(made)
    for system, by_seed in made.items():
        yield from rows_of(system, figures[system], by_seed)
        for seed, network in by_seed.items():
            yield from curve(system, seed, network, material, options.batch)
        yield Row(system, "training", "units", by_seed[1].units, 1)
        if system != FIRST:
            gains = {
                (test, f"gain_{metric}"): figures[FIRST][test, metric]
                - figures[system][test, metric]
                for test, metric in HEADLINES
            }
            yield from rows_of(f"{FIRST}-{system}", gains, by_seed)
    overlap = {name: word_overlap(pairs) for name, pairs in material.sentences.items()}
    yield from rows_of("word_overlap", of_sentences([overlap], material))
    counts = {
        "pairs": len(material.train),
        "left_out": material.left_out,
        "asked_links": material.unlinked.count(False),
        "trial_examples": options.trial_examples,
        "examples": options.examples,
        "cell_examples": options.cell_examples,
    }
    yield from (Row("data", "training", metric, count, 1) for metric, count in counts.items())


def overlapping(
    material: Material, chosen: TrainSettings, networks: PairNetworks, options: argparse.Namespace
) -> Iterator[Row]:
    """Yield what the bag says of SimLex that was trained on those of its pairs that are links."""
    settings = {OVERLAPPING: until(chosen, options.examples, options)}
    made = seeded(settings, options.seeds, replace(networks, train=material.overlapping))
    figures = judged(list(made[OVERLAPPING].values()), material)
    yield from learning(made)
    words = {key: value for key, value in figures.items() if key[0].startswith("simlex")}
    yield from rows_of(OVERLAPPING, words, made[OVERLAPPING])


def variants(
    material: Material,
    chosen: Mapping[str, TrainSettings],
    networks: PairNetworks,
    options: argparse.Namespace,
) -> Iterator[Row]:
    """Yield the choices of the paper that the trials do not make, one at a time."""
    settings = {
        name: until(with_values(chosen[name.partition("/")[0]], values), options.examples, options)
        for name, values in study("charagram").face["variants"].items()
    }
    made = seeded(settings, options.seeds, networks)
    yield from learning(made)
    for system, by_seed in made.items():
        yield from rows_of(system, judged(list(by_seed.values()), material), by_seed)
        for seed, network in by_seed.items():
            score = network.valid_score
            yield Row(system, "valid", "valid_success_at_1", score, networks.judges, seed=seed)


def with_values(settings: TrainSettings, values: Mapping[str, Any]) -> TrainSettings:
    """Return settings with other values; `encoder` has values of its own, lists as in YAML."""
    own = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in values.get("encoder", {}).items()
    }
    rest = {name: value for name, value in values.items() if name != "encoder"}
    return replace(settings, encoder=replace(settings.encoder, **own), **rest)


def on_sentences(
    material: Material,
    chosen: Mapping[str, TrainSettings],
    networks: PairNetworks,
    options: argparse.Namespace,
) -> Iterator[Row]:
    """Yield Table 3 by networks trained on sentences that mean the same, and Table 8's words."""
    settings = {
        f"{system}/{SENTENCES}": until(own, options.examples, options)
        for system, own in chosen.items()
    }
    learners = replace(
        networks,
        train=material.paraphrases,
        valid=material.held_out_paraphrases,
        tests={**networks.tests, **material.negations},
    )
    made = seeded(settings, options.seeds, learners)
    yield from learning(made)
    for system, by_seed in made.items():
        figures = judged(list(by_seed.values()), material)
        sentences = {key: value for key, value in figures.items() if key[1] == "pearson"}
        yield from rows_of(system, sentences, by_seed)
        yield from negated(system, list(by_seed.values()), material)
    yield Row("data", "training", "paraphrases", len(material.paraphrases), 1)


def negated(system: str, networks: Sequence[PairNetwork], material: Material) -> Iterator[Row]:
    """Yield the words nearest to each bigram with "not": a row each, their mean cosine."""
    for test, pairs in material.negations.items():
        cosines = np.mean([network.answers[test] for network in networks], axis=0)
        _, words = strings(pairs)
        for place in np.argsort(-cosines, kind="stable")[:NEAREST]:
            yield Row(system, test, f"near: {words[place]}", float(cosines[place]), len(words))


def cells(
    material: Material, chosen: TrainSettings, networks: PairNetworks, options: argparse.Namespace
) -> Iterator[Row]:
    """Yield Table 5: the tuned bag with the most frequent n-grams of each order, more orders."""
    settings = {}
    for orders in CELL_ORDERS:
        for most in CELL_MOST:
            encoder = replace(chosen.encoder, orders=orders, min_count=1, most=most)
            name = f"{FIRST}/orders:{''.join(map(str, orders))}/most:{most}"
            own = replace(chosen, encoder=encoder)
            settings[name] = until(own, options.cell_examples, options)
    made = seeded(settings, options.seeds, networks)
    yield from learning(made)
    for name, by_seed in made.items():
        figures = judged(list(by_seed.values()), material)
        yield from rows_of(name, {key: figures[key] for key in HEADLINES}, by_seed)
        yield Row(name, "training", "units", by_seed[TRIAL_SEED].units, 1)


def judged(networks: Sequence[PairNetwork], material: Material) -> Figures:
    """Return by test and metric what the seeds of a system reach: ρ of words, r of sentences."""
    answers = [np.array(network.answers["simlex"]) for network in networks]
    gold, unlinked = gold_of(material.simlex), np.array(material.unlinked)
    parts = {"simlex": np.full(len(gold), True), "simlex/unlinked": unlinked}
    words = {
        (test, "spearman"): compared("spearman", [said[some] for said in answers], gold[some], test)
        for test, some in parts.items()
    }
    return words | of_sentences([network.answers for network in networks], material)


def of_sentences(answers: Sequence[Mapping[str, list[float]]], material: Material) -> Figures:
    """Return Pearson's r on each set of sentences, and its mean over the STS sets."""
    figures = {
        (test, "pearson"): compared(
            "pearson", [said[test] for said in answers], gold_of(pairs), test
        )
        for test, pairs in material.sentences.items()
    }
    return figures | {STS: mean_over_sets([figures[test, "pearson"] for test in material.sts])}


def curve(
    system: str, seed: int, network: PairNetwork, material: Material, batch: int
) -> Iterator[Row]:
    """Yield Figure 1: ρ on SimLex and the validation score, by examples seen."""
    for look, spearman in zip(network.looks, network.watched, strict=True):
        test = f"examples_{look.step * batch:07d}"
        yield Row(system, test, "spearman", spearman, len(material.simlex), seed=seed)
        score, judges = look.valid_score, len(material.valid)
        yield Row(system, test, "valid_success_at_1", score, judges, seed=seed)
