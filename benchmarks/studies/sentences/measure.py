"""The recurrent network of Neculoiu et al. 2016 on sentences, its future work, beside others."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl

from benchmarks.grids import Grid
from benchmarks.pair_figures import Figures, compared, mean_over_sets, rows_of, word_overlap
from benchmarks.pair_networks import PairNetwork, PairNetworks, gold_of
from benchmarks.results import Row
from benchmarks.studies.charagram.material import asked_sentences, by_set
from benchmarks.studies.charagram.material import judged as scored
from benchmarks.studies.sentences.entailment import read_entailment
from benchmarks.study import study
from benchmarks.tuning import bounded, learning, seeded, tuned
from benchmarks.workspace import data_folder
from models.measures.correlations import Measure
from models.training.scored_pairs import ScoredPairs
from models.training.train_files import settings_from
from tasks.readers.rejected import RejectedRows
from tasks.scored.pair_files import PARAPHRASE_PARTS
from tasks.scored.readers import sick
from tasks.scored.training_pairs import TrainingPairs, training_pairs

READERS = {"sick": sick.read_sick, "entailment": read_entailment}
OURS = "recurrent"
CORRELATIONS: tuple[Measure, ...] = ("pearson", "spearman", "mean_squared_error")
TEST, STS = "test", "sts"


def measure(dataset: str, options: argparse.Namespace) -> Iterator[list[Row]]:
    """Tune, train and ask all networks."""
    learned, tests = read(dataset, data_folder())
    tuning = PairNetworks(options.kept, options.processes, learned.train, learned.valid)
    chosen = tuned(list(grids(options)), tuning, "valid_pearson")
    settings = {
        system: replace(
            own, max_steps=options.steps, evaluate_every=options.every, patience=options.patience
        )
        for system, own in chosen.settings.items()
    }
    made = seeded(settings, options.seeds, replace(tuning, tests=tests))
    rows = [*chosen.rows, *learning(made)]
    figures = {system: judged(list(own.values()), tests) for system, own in made.items()}
    for system, by_seed in made.items():
        rows += rows_of(system, figures[system], by_seed)
        if system != OURS:
            gains = {
                (test, f"gain_{name}"): figures[OURS][test, name] - figure
                for (test, name), figure in figures[system].items()
                if name == "pearson"
            }
            rows += rows_of(f"{OURS}-{system}", gains, by_seed)
    said = {name: word_overlap(pairs) for name, pairs in tests.items()}
    rows += rows_of("word_overlap", judged([PairNetwork([], said, [], 0)], tests))
    yield rows


def read(dataset: str, data: Path) -> tuple[TrainingPairs, dict[str, ScoredPairs]]:
    """Read what is trained on and what is asked: SICK's test pairs, of `sick` the STS sets too."""
    files = {part: data / "sts/sick2014" / name for part, name in sick.FILES.items()}
    pairs = READERS[dataset](files, RejectedRows())
    tests = {TEST: scored(pairs.filter(part="test"))}
    if dataset == "sick":
        asked = asked_sentences(data / "sts").filter(pl.col("dataset") != "sick")
        pairs = pl.concat([pairs, asked])  # so that none of them is trained on
        tests |= by_set(asked)
    nothing = pl.DataFrame(schema=dict(PARAPHRASE_PARTS))
    return training_pairs(pairs, nothing, "sick"), tests


def grids(options: argparse.Namespace) -> Iterator[Grid]:
    """Yield the same six settings of every system, each trained for `options.trial_steps`."""
    face = study("sentences").face
    for system, encoder in face["encoders"].items():
        settings = settings_from(face["training"] | {"encoder": encoder})
        yield Grid(system, bounded(settings, options.trial_steps), face["tried"])


def judged(networks: Sequence[PairNetwork], tests: dict[str, ScoredPairs]) -> Figures:
    """Return by test and measure what the seeds of a system reach; of STS sets r and its mean."""
    figures: Figures = {}
    for test, pairs in tests.items():
        answers = [network.answers[test] for network in networks]
        for name in CORRELATIONS if test == TEST else CORRELATIONS[:1]:
            figures[test, name] = compared(name, answers, gold_of(pairs), test)
    sets = [figure for (test, _), figure in figures.items() if test.startswith(STS)]
    return figures | ({(STS, "pearson"): mean_over_sets(sets)} if sets else {})
