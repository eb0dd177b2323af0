"""Bags of n-grams beside other encoders: Tables 1, 3 and 5, Figure 1 of Wieting et al. 2016.

Everything here is trained on *word* pairs, the links of PPDB-XL, with the margin loss; the paper
trains on 770,007 word pairs of PPDB-XXL for words and on 9 million *phrase* pairs for sentences, of
which we have none. So sentences are read by networks that saw words alone. Judged by SimLex-999, by
18 of the 20 STS sets and by SICK. Each system has the same six trials, judged by 1,000 held-out
links; no pair that anything is judged by chooses anything. Every network of a table has seen as
many examples as the others. Run it with `python -m benchmarks.charagram`.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks.charagram_data import Material, read
from benchmarks.charagram_figures import (
    HEADLINES,
    count_row,
    curve,
    judged,
    of_sentences,
    rows_of,
)
from benchmarks.machine import command, data_folder, machine
from benchmarks.pair_figures import word_overlap
from benchmarks.results_file import FOLDER, Row, replace_rows
from benchmarks.tuning import TRIAL_SEED, Job, Trial, best, outcomes, trial_rows
from models.kinds import encoder_settings
from models.losses.margin import MarginSettings, Negatives
from models.run import TrainSettings

LONGEST = 1000  # characters or words of a string: none is cut
ORDERS = (2, 3, 4)  # paper
SYSTEMS: dict[str, dict[str, Any]] = {
    "ngram_bag": {
        "orders": ORDERS,
        "min_count": 2,  # paper: 1 or 2
        "most": 0,
        "buckets": 0,
        "activation": "tanh",  # paper: tanh or linear
        "bias": True,
    },
    "char_lstm": {"dim_character": 300, "output_gate": True},  # paper: with or without the gate
    "convolution": {
        "dim_character": 300,
        "widths": (2, 3, 4),
        "filters": (175, 175, 175),
        "activation": "relu",  # paper: relu or tanh
        "fully_connected": "linear",  # paper: tanh or linear
        "dropout": 0.0,
    },
    "word_average": {"min_count": 1},
}
FIRST = "ngram_bag"  # what the others are compared with
LEARNING_RATES = (0.001, 0.003, 0.01)  # paper: 0.001, for fifty epochs
NEGATIVES: tuple[Negatives, ...] = ("max", "mix")  # paper: tuned
MARGIN = 0.4  # paper
CELL_ORDERS = ((2,), (2, 3), (2, 3, 4), (2, 3, 4, 5), (2, 3, 4, 5, 6))
CELL_MOST = (100, 1000, 50000)


@dataclass(frozen=True)
class Bounds:
    """Pairs that each network sees, its size, and where outcomes are kept."""

    trial_examples: int
    examples: int
    cell_examples: int
    every: int
    batch: int
    dim: int
    seeds: int
    folder: Path
    processes: int

    def until(self, settings: TrainSettings, examples: int) -> TrainSettings:
        """The same, ended by `examples` alone, with a look after each `every` of them."""
        steps = examples // self.batch
        every = max(1, self.every // self.batch)
        return replace(settings, max_steps=steps, evaluate_every=every, patience=steps + 1)


def trials(bounds: Bounds) -> list[Trial]:
    """The same six ways to train each system."""
    return [
        Trial(
            system,
            f"learning_rate={rate:g},negatives={negatives}",
            bounds.until(
                TrainSettings(
                    seed=TRIAL_SEED,
                    encoder=encoder_settings(
                        {"kind": system, "max_length": LONGEST, "dim": bounds.dim, **values}
                    ),
                    loss=MarginSettings(MARGIN, negatives),
                    batch_pairs=bounds.batch,
                    learning_rate=rate,
                    schedule="constant",
                    l2=0.0,  # in Adam it would shrink the rows that a batch does not touch
                    clip_norm=1.0,
                    max_steps=0,
                    evaluate_every=0,
                    patience=0,
                ),
                bounds.trial_examples,
            ),
        )
        for system, values in SYSTEMS.items()
        for rate in LEARNING_RATES
        for negatives in NEGATIVES
    ]


def tuned(material: Material, bounds: Bounds) -> tuple[dict[str, Trial], list[Row]]:
    """The best trial of every system, and the rows of all trials."""
    tried = trials(bounds)
    jobs = [
        Job(f"{each.system}, {each.name}", each.settings, material.train, material.valid)
        for each in tried
    ]
    found = outcomes(jobs, bounds.folder, bounds.processes)
    rows = list(trial_rows(tried, found, "valid_success_at_1", len(material.valid.left)))
    return best(tried, found), rows


def systems(material: Material, chosen: Mapping[str, Trial], bounds: Bounds) -> Iterator[Row]:
    """Tables 1 and 3 and Figure 1: every system with every seed, and the shared words."""
    seeds = range(1, bounds.seeds + 1)
    asked = {"simlex": material.simlex, **material.sentences}
    jobs = [
        Job(
            f"{system}, seed {seed}",
            bounds.until(replace(trial.settings, seed=seed), bounds.examples),
            material.train,
            material.valid,
            asked,
            material.simlex,
        )
        for system, trial in chosen.items()
        for seed in seeds
    ]
    made = iter(outcomes(jobs, bounds.folder, bounds.processes))
    networks = {system: [next(made) for _ in seeds] for system in chosen}
    found = {system: judged(each, material) for system, each in networks.items()}
    for system, figures in found.items():
        yield from rows_of(system, figures, seeds)
        for seed, outcome in zip(seeds, networks[system], strict=True):
            yield from curve(system, seed, outcome, material, bounds.batch)
        yield count_row(system, "units", networks[system][0].units)
        if system != FIRST:
            gains = {
                (test, f"gain_{metric}"): found[FIRST][test, metric] - figures[test, metric]
                for test, metric in HEADLINES
            }
            yield from rows_of(f"{FIRST}-{system}", gains, seeds)
    overlap = {name: word_overlap(pairs) for name, pairs in material.sentences.items()}
    yield from rows_of("word_overlap", of_sentences([overlap], material), [None])
    for metric, count in (
        ("pairs", len(material.train.left)),
        ("left_out", material.left_out),
        ("pairs_in_training", material.unlinked.count(False)),
        ("trial_examples", bounds.trial_examples),
        ("examples", bounds.examples),
        ("cell_examples", bounds.cell_examples),
    ):
        yield count_row("data", metric, count)


def cells(material: Material, chosen: Trial, bounds: Bounds) -> Iterator[Row]:
    """Table 5: the tuned bag with the most frequent n-grams of each order, and more orders."""
    names, jobs = [], []
    for orders in CELL_ORDERS:
        for most in CELL_MOST:
            encoder = replace(chosen.settings.encoder, orders=orders, min_count=1, most=most)
            settings = replace(chosen.settings, encoder=encoder)
            names.append(f"{FIRST}/orders:{''.join(map(str, orders))}/most:{most}")
            jobs.append(
                Job(
                    names[-1],
                    bounds.until(settings, bounds.cell_examples),
                    material.train,
                    material.valid,
                    {"simlex": material.simlex, **material.sentences},
                )
            )
    for system, made in zip(names, outcomes(jobs, bounds.folder, bounds.processes), strict=True):
        figures = judged([made], material)
        for row in rows_of(system, {key: figures[key] for key in HEADLINES}, [None]):
            yield {**row, "seed": TRIAL_SEED}
        yield count_row(system, "units", made.units)


def main(arguments: list[str] | None = None, folder: Path = FOLDER) -> None:
    """Measure and write `results/charagram.csv`."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name, value, meaning in (
        ("trial-examples", 20_000, "pairs that a trial sees"),
        ("examples", 120_000, "pairs that each network of Tables 1 and 3 sees"),
        ("cell-examples", 30_000, "pairs that each network of Table 5 sees; 0: no Table 5"),
        ("every", 10_000, "pairs between two looks"),
        ("batch", 100, "pairs a step (paper: 25 or 50 for words, 100 for phrases)"),
        ("dim", 300, "of an embedding (paper: 300)"),
        ("seeds", 3, "networks of each system"),
    ):
        parser.add_argument(f"--{name}", type=int, default=value, help=meaning)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--kept", type=Path, default=Path(".checkpoints/charagram"))
    given = vars(parser.parse_args(arguments))
    bounds = Bounds(folder=given.pop("kept"), **given)
    del given["processes"]  # changes no figure
    material = read(data_folder())
    common = {"experiment": "charagram", "dataset": "ppdb", "machine": machine()}
    common["command"] = command("charagram", data=True, **given)
    chosen, rows = tuned(material, bounds)
    rows += systems(material, chosen, bounds)
    if bounds.cell_examples:
        rows += cells(material, chosen[FIRST], bounds)
    replace_rows([{**common, **row} for row in rows], folder)


if __name__ == "__main__":
    main()
