"""Bags of n-grams beside others: Tables 1 and 3 and Figure 1 of Wieting et al. 2016."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import compress
from pathlib import Path
from statistics import mean

import polars as pl

from benchmarks.networks import learning, seeded, tuned
from benchmarks.pair_networks import (
    Figures,
    PairNetworks,
    compared,
    gains,
    gold_of,
    mean_over_sets,
    rows_of,
    scaled_pairs,
    strings,
    word_overlap,
)
from benchmarks.plots import curves, svg
from benchmarks.results import Lines, Row
from benchmarks.study import study
from benchmarks.tables import distinct, where
from benchmarks.workspace import data_folder
from models.metrics.correlations import Measure
from models.reproducibility import generator
from models.text.titles import clean_title
from models.training.loop import TrainSettings
from models.training.scored_run import ScoredPairs
from tasks.papers.similarity.readers import SICK, SIMLEX, STS_FILES, read_pairs, read_ppdb, read_sts
from tasks.tables.rejected import RejectedRows

LONGEST = 1000  # characters or words of a string: none is cut
HELD_OUT = 1000  # links that choose among the looks at a network
FIRST = "ngram_bag"  # what the others are compared with
CURVES = {"spearman": "ρ on SimLex-999", "valid_success_at_1": "held-out links found"}
SEEN = "examples_"


def measure(dataset: str, options: argparse.Namespace) -> Iterator[list[Row]]:
    """Train all networks on word links, and test them on words and sentences."""
    train, valid, tests = read(data_folder())
    track = tests["simlex"]
    networks = PairNetworks(options.kept, options.processes, train, valid, tests, track)
    made = seeded(systems(dataset, options), options.seeds, networks)
    figures = {
        system: judged([network.answers for network in by_seed.values()], tests)
        for system, by_seed in made.items()
    }
    rows = [*learning(made)]
    for system, by_seed in made.items():
        rows += rows_of(system, figures[system], by_seed)
        for seed, network in by_seed.items():  # Figure 1: scores by examples seen
            for look, spearman in zip(network.looks, network.tracked, strict=True):
                test, score = f"{SEEN}{look.step * options.batch:07d}", look.valid_score
                rows.append(Row(system, test, "spearman", spearman, len(track), seed=seed))
                rows.append(Row(system, test, "valid_success_at_1", score, len(valid), seed=seed))
        if system != FIRST:
            rows += rows_of(f"{FIRST}-{system}", gains(figures[FIRST], figures[system]), by_seed)
    sentences = {name: pairs for name, pairs in tests.items() if name != "simlex"}
    overlap = {name: word_overlap(pairs) for name, pairs in sentences.items()}
    yield [*rows, *rows_of("word_overlap", judged([overlap], sentences))]


def read(
    data: Path, held_out: int = HELD_OUT
) -> tuple[ScoredPairs, ScoredPairs, dict[str, ScoredPairs]]:
    """Read links to train on, held-out links, and tests: `simlex`, STS sets, `sick`."""
    words = {"test": data / "word_similarity/SimLex-999.txt"}
    simlex = scaled_pairs(read_pairs(SIMLEX, words, RejectedRows()))
    tested = set(map(frozenset, zip(*strings(simlex), strict=True)))
    published = read_ppdb(data / "ppdb/ppdb-xl.txt", RejectedRows()).frame
    links = distinct_links(published.select("head", "paraphrase").rows())
    fresh = [link for link in links if frozenset(link) not in tested]
    drawn = generator(0, "charagram", "valid").permutation(len(fresh)) < held_out
    train, valid = (
        ScoredPairs.of(*map(list, zip(*compress(fresh, own), strict=True)))
        for own in (~drawn, drawn)
    )
    paths = {name: path for name, path in STS_FILES.items() if name.endswith(".test")}
    files = {name: data / "sts/semeval" / path for name, path in paths.items()}
    related = {"test": data / "sts/sick2014" / SICK.files["test"]}
    pairs = [read_sts(files, RejectedRows()), read_pairs(SICK, related, RejectedRows())]
    sets = pl.concat(pairs).partition_by("dataset", as_dict=True, maintain_order=True)
    sentences = {str(name): scaled_pairs(own) for (name,), own in sets.items()}
    return train, valid, {"simlex": simlex, **sentences}


def distinct_links(pairs: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return each pair of two words, cleaned, once, whichever way round; none of equal words."""
    first: dict[frozenset[str], tuple[str, str]] = {}
    for left, right in pairs:
        pair = clean_title(left), clean_title(right)
        if pair[0] != pair[1]:
            first.setdefault(frozenset(pair), pair)
    return list(first.values())


def systems(dataset: str, options: argparse.Namespace) -> dict[str, TrainSettings]:
    """Return the settings of every network, ended by its examples alone."""
    every, steps = max(1, options.every // options.batch), options.examples // options.batch
    bounds = {"max_steps": steps, "evaluate_every": every, "patience": steps + 1}
    bounds["batch_pairs"], common = options.batch, {"max_length": LONGEST, "dim": options.dim}
    return tuned(study("charagram").config, dataset, common, bounds)


def judged(
    answers: Sequence[Mapping[str, list[float]]], tests: Mapping[str, ScoredPairs]
) -> Figures:
    """Return a system's ρ of words, r of sentences, and as `sts` the mean over the STS sets."""
    figures: Figures = {}
    for test, pairs in tests.items():
        measure: Measure = "spearman" if test == "simlex" else "pearson"
        own = [by_test[test] for by_test in answers]
        figures[test, measure] = compared(measure, own, gold_of(pairs), test)
    sets = [figure for (test, _), figure in figures.items() if test.startswith("sts")]
    return figures | {("sts", "pearson"): mean_over_sets(sets)}


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
