"""What attention adds to a Siamese LSTM: Tables I and II of Bao et al. 2018, in English.

Four encoders of 50 hidden units, one-way and both ways, the last state or attention, are trained on
the scored pairs of SICK and of MSRP with the squared error of exp(-‖a - b‖₁). Each has the same six
trials, judged by Pearson's r on validation pairs, and its best one is trained with every seed. The
paper's word vectors of 6.1 GB are not to be had: ours start at random, so that the gain from
attention is what can be compared. Run it with `python -m benchmarks.attention`.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.attention_data import DATASETS, Parts, read
from benchmarks.machine import command, data_folder, machine
from benchmarks.pair_figures import Resampled, compared, share, word_overlap
from benchmarks.results_file import FOLDER, Row, replace_rows
from benchmarks.tuning import TRIAL_SEED, Job, Outcome, Trial, best, outcomes, trial_rows
from models.correlations import Measure
from models.encoders.attentive import AttentiveSettings
from models.losses.regression import RegressionSettings
from models.run import TrainSettings

if TYPE_CHECKING:
    from jaxtyping import Bool

SYSTEMS: dict[str, dict[str, Any]] = {
    "lstm": {"bidirectional": False, "pooling": "last"},
    "attentive_lstm": {"bidirectional": False, "pooling": "attention"},
    "bilstm": {"bidirectional": True, "pooling": "last"},
    "attentive_bilstm": {"bidirectional": True, "pooling": "attention"},
}
GAINS = (("attentive_lstm", "lstm"), ("attentive_bilstm", "bilstm"))
BY_LENGTH = ("lstm", "attentive_lstm")
LEARNING_RATES = (0.001, 0.003, 0.01)
DIMS = (50, 300)  # of a word's vector; 300 in the paper, whose vectors are trained beforehand
LONGEST = 50  # words: no sentence of the two data sets has as many
BATCH = 32
CORRELATIONS: tuple[Measure, ...] = ("pearson", "spearman", "mean_squared_error")


@dataclass(frozen=True)
class Bounds:
    """How long each network is trained, how many there are, and where outcomes are kept."""

    steps: int
    every: int
    patience: int
    seeds: int
    folder: Path
    processes: int

    def seeded(self, trial: Trial) -> list[TrainSettings]:
        """The trial's settings with every seed."""
        return [replace(trial.settings, seed=seed) for seed in range(1, self.seeds + 1)]


def trials(bounds: Bounds) -> list[Trial]:
    """The same six settings of every system."""
    loss = RegressionSettings("exp_manhattan")
    return [
        Trial(
            system,
            f"learning_rate={rate:g},dim_unit={dim}",
            TrainSettings(
                seed=TRIAL_SEED,
                encoder=AttentiveSettings(
                    unit="word",
                    max_length=LONGEST,
                    dim_unit=dim,
                    hidden=50,  # paper
                    min_count=2,
                    dropout=0.0,
                    **values,
                ),
                loss=loss,
                batch_pairs=BATCH,
                learning_rate=rate,
                schedule="constant",
                l2=0.0,
                clip_norm=1.0,
                max_steps=bounds.steps,
                evaluate_every=bounds.every,
                patience=bounds.patience,
            ),
        )
        for system, values in SYSTEMS.items()
        for rate in LEARNING_RATES
        for dim in DIMS
    ]


def tuned(dataset: str, parts: Parts, bounds: Bounds) -> tuple[dict[str, Trial], list[Row]]:
    """The best trial of every system, and the rows of all trials."""
    tried = trials(bounds)
    jobs = [
        Job(f"{dataset}, {each.system}, {each.name}", each.settings, parts.train, parts.valid)
        for each in tried
    ]
    found = outcomes(jobs, bounds.folder, bounds.processes)
    rows = list(trial_rows(tried, found, "valid_pearson", len(parts.valid.left)))
    return best(tried, found), rows


def trained(
    dataset: str, parts: Parts, settings: dict[str, list[TrainSettings]], bounds: Bounds
) -> dict[str, list[Outcome]]:
    """Of each system what came of each of its settings, asked validation and test pairs."""
    asked = {"valid": parts.valid, "test": parts.test}
    jobs = [
        Job(f"{dataset}, {system}, seed {each.seed}", each, parts.train, parts.valid, asked)
        for system, several in settings.items()
        for each in several
    ]
    found = iter(outcomes(jobs, bounds.folder, bounds.processes))
    return {system: [next(found) for _ in several] for system, several in settings.items()}


def table1(dataset: str, parts: Parts, chosen: dict[str, Trial], bounds: Bounds) -> Iterator[Row]:
    """Test figures of the tuned networks and of the baselines, and what attention adds."""
    settings = {system: bounds.seeded(trial) for system, trial in chosen.items()}
    seeds = range(1, bounds.seeds + 1)
    networks = trained(dataset, parts, settings, bounds)
    found = {system: judged(dataset, made, parts) for system, made in networks.items()}
    for system, figures in found.items():
        yield from _rows(system, "", figures, seeds)
        for seed, made in zip(seeds, networks[system], strict=True):
            yield _count(system, "steps", made.looks[-1].step, seed)
    for attentive, last in GAINS:
        gains = {name: each - found[last][name] for name, each in found[attentive].items()}
        yield from _rows(f"{attentive}-{last}", "gain_", gains, seeds)
    for system, made in baselines(dataset, parts).items():
        yield from _rows(system, "", judged(dataset, [made], parts), [None])
    yield _count("data", "pairs", len(parts.train.left), None)
    yield _count("data", "left_out", parts.left_out, None)


def table2(
    dataset: str, parts: Parts, chosen: dict[str, Trial], bounds: Bounds, lengths: Sequence[int]
) -> Iterator[Row]:
    """The same two networks with fewer words read of each sentence."""
    settings = {
        f"{system}/max_length:{length}": [
            replace(each, encoder=replace(each.encoder, max_length=length))
            for each in bounds.seeded(chosen[system])
        ]
        for system in BY_LENGTH
        for length in lengths
    }
    for system, made in trained(dataset, parts, settings, bounds).items():
        yield from _rows(system, "", judged(dataset, made, parts), range(1, bounds.seeds + 1))


def judged(dataset: str, made: Sequence[Outcome], parts: Parts) -> dict[str, Resampled]:
    """Measures of one system's seeds on the test pairs; gold is in [0, 1]."""
    gold = parts.test.scores or []
    if dataset == "msrp":
        return {"accuracy": share(np.stack([hits(each, parts) for each in made]), dataset)}
    answers = [each.answers["test"] for each in made]
    return {measure: compared(measure, answers, gold, dataset) for measure in CORRELATIONS}


def hits(made: Outcome, parts: Parts) -> Bool[np.ndarray, " pair"]:
    """Which test pairs fall on their side of the threshold that suits the validation pairs best."""
    cut = threshold(np.array(made.answers["valid"]), np.array(parts.valid.scores) == 1)
    alike = np.array(made.answers["test"]) >= cut
    right: Bool[np.ndarray, " pair"] = alike == (np.array(parts.test.scores) == 1)
    return right


def threshold(similarity: np.ndarray, alike: Bool[np.ndarray, " pair"]) -> float:
    """From which similarity on a pair is called a paraphrase, by the most pairs put right.

    Tried are the lowest similarity, which calls all pairs paraphrases, and the middle between each
    two neighbours; of equally good ones the lowest is taken.
    """
    distinct = np.unique(similarity)
    cuts = np.concatenate([distinct[:1], (distinct[:-1] + distinct[1:]) / 2])
    right = ((similarity >= cuts[:, None]) == alike).sum(axis=1)
    return float(cuts[right.argmax()])


def baselines(dataset: str, parts: Parts) -> dict[str, Outcome]:
    """What learns nothing: shared words and, where pairs are told in two kinds, the larger one."""
    asked = {"valid": parts.valid, "test": parts.test}
    answers = {"word_overlap": {name: word_overlap(pairs) for name, pairs in asked.items()}}
    if dataset == "msrp":
        answers["majority"] = {name: [1.0] * len(pairs.left) for name, pairs in asked.items()}
    return {system: Outcome([], given, [], 0) for system, given in answers.items()}


def _rows(
    system: str, prefix: str, figures: dict[str, Resampled], seeds: Sequence[int | None]
) -> Iterator[Row]:
    for metric, found in figures.items():
        for row in found.rows(prefix + metric, seeds):
            yield {"system": system, "test": "test", **row}


def _count(system: str, metric: str, value: float, seed: int | None) -> Row:
    ends = {"value": value, "low": None, "high": None, "n": 1}
    return {"system": system, "test": "training", "metric": metric, **ends, "seed": seed}


def main(arguments: list[str] | None = None, folder: Path = FOLDER) -> None:
    """Measure and write `results/attention.csv`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dataset", choices=DATASETS, nargs="+", default=list(DATASETS))
    parser.add_argument("--steps", type=int, default=2000, help="at most, of every network")
    parser.add_argument("--every", type=int, default=100, help="steps between two looks")
    parser.add_argument("--patience", type=int, default=6, help="looks without a better one")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--lengths", type=int, nargs="*", default=[10, 15, 20, 25, 30])
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--kept", type=Path, default=Path(".checkpoints/attention"))
    given = parser.parse_args(arguments)
    names = ("steps", "every", "patience", "seeds")
    numbers = {name: getattr(given, name) for name in names}
    bounds = Bounds(**numbers, folder=given.kept, processes=given.processes)
    for dataset in given.dataset:
        parts = read(dataset, data_folder())
        chosen, rows = tuned(dataset, parts, bounds)
        rows += table1(dataset, parts, chosen, bounds)
        asked: dict[str, Any] = {"dataset": dataset, **numbers}
        if dataset == "sick":
            rows += table2(dataset, parts, chosen, bounds, given.lengths)
            asked["lengths"] = given.lengths
        common = {"experiment": "attention", "dataset": dataset, "machine": machine()}
        common["command"] = command("attention", data=True, **asked)
        replace_rows([{**common, **row} for row in rows], folder)


if __name__ == "__main__":
    main()
