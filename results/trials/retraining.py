"""Retraining from the weights that serve: what people's answers bring once they are trained on.

`python results/trials/retraining.py PACKAGE` needs the workspace of `esco` without feedback and its
model package. The titles of the job board's even half are dealt in two. Of one part, so many titles
are chosen and answered by their labels; in every arm they are exemplars and count in the prior. The
inputs of the other part are queried, by the network alone: no exact match, no abstention. `mended`
is the share of the inputs answered wrongly without training that are right with it, `spoiled` the
opposite; both also of the titles with two labels or more, all of one occupation. Prints CSV.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl
import torch
from board import Board, first_in_queue, random_titles
from retraining_figures import Figures
from review_queue import Pool

from benchmarks.networks.corrected_pairs import write_corrected
from benchmarks.studies.loop.stream import split_weeks, titles_of
from benchmarks.workspace import Workspace
from models.network.embedding import embed_rows
from models.network.featurized_strings import FeaturizedStrings
from models.network.model_files import load_model
from models.reproducibility.seeding import generator
from models.search.exemplars import Exemplars
from models.training.batches import read_pairs
from models.training.strings import read_strings
from models.training.title_run import TitleRun
from tasks.evaluation.systems import read_index
from tasks.io.frames import read_frame
from tasks.io.schemas import EXEMPLARS, PRIOR, VERDICTS
from tasks.pipeline.train.network_params import training_settings
from tasks.release.model_package.reading import read_normalizer

BEFORE, CPU, AT_ONCE = "extra_words", torch.device("cpu"), 256
CHOICES = {"queue": first_in_queue, "random rows": random_titles}
SEEDS = (1, 2, 3)
Weights = dict[str, torch.Tensor]


class Base:
    """The network before, the index of its titles, and the exemplars that it has."""

    def __init__(self, board: Board, steps: int, rate: float, share: float) -> None:
        """Read the workspace."""
        self.board, self.workspace = board, Workspace.read("esco")
        self.index, self.rule = read_index(self.workspace.data), self.workspace.params.evaluate.rule
        settings = training_settings(self.workspace.params.network, 1)
        self.settings = replace(
            settings, batch_pairs=768, max_steps=steps, learning_rate=rate, judged_share=share
        )
        self.featurizer, self.encoder = load_model(self.workspace.model(BEFORE, 1))
        self.weights = {name: value.clone() for name, value in self.encoder.state_dict().items()}
        folder = self.workspace.files("calibrate", self.workspace.mix, 1)
        self.known = read_frame(folder / "exemplars.parquet", EXEMPLARS)
        prior = read_frame(folder / "prior.parquet", PRIOR)
        self.chance = dict(prior.select("occupation_id", "chance").iter_rows())
        titles = [*board.titles, *self.known["title"]]
        self.place = {title: row for row, title in enumerate(titles)}
        self.strings = [
            FeaturizedStrings.of(each, self.featurizer, CPU) for each in (self.index.titles, titles)
        ]

    def bias(self, chosen: pl.DataFrame) -> dict[str, float]:
        """Return the prior's part of scores, the answers counted as stage `calibrate` does."""
        params, counts = self.workspace.params.calibrate, dict.fromkeys(self.chance, 0)
        counts |= dict(chosen["label"].value_counts().iter_rows())
        before = params.pseudo_count * len(self.chance)
        times = len(self.chance) / (len(chosen) + before)
        return {
            name: params.prior_power
            * self.rule.temperature
            * float(np.log(max((counts[name] + before * chance) * times, 1e-9)))
            for name, chance in self.chance.items()
        }

    def scores(
        self, weights: Weights, titles: list[str], chosen: pl.DataFrame, of_index: Weights
    ) -> np.ndarray:
        """Return the scores of all occupations; `chosen` has titles with their `label`.

        `of_index`: weights that the index is embedded with.
        """
        parts = []
        for own_weights, strings in zip((of_index, weights), self.strings, strict=True):
            self.encoder.load_state_dict(own_weights)
            rows = torch.arange(len(strings.lengths))
            parts.append(embed_rows(self.encoder, strings, rows).numpy())
        index, own = parts
        reviewed = [self.board.titles[self.board.row[name]] for name in chosen["normalized"]]
        named = {
            "title": [*self.known["title"], *reviewed],
            "occupation_id": [*self.known["occupation_id"], *chosen["label"]],
            "weight": [*self.known["weight"]]
            + [self.workspace.params.calibrate.label_weight] * len(reviewed),
        }
        exemplars = Exemplars.of(self.index, self.bias(chosen), named, self.rule.temperature)
        known = own[[self.place[title] for title in exemplars.titles]].T
        parts = []
        for start in range(0, len(titles), AT_ONCE):
            some = own[[self.place[title] for title in titles[start : start + AT_ONCE]]]
            scores = self.rule(some @ index.T, self.index.memberships)
            parts.append(exemplars(scores, some @ known).astype(np.float32))
        return np.concatenate(parts)


class Learner:
    """Trains from the base's weights on its pairs and those of reviewed titles."""

    def __init__(self, base: Base, chosen: pl.DataFrame, per_verdict: int) -> None:
        """Make the pairs as the pipeline does; `chosen` has titles with `label` and `answer`."""
        self.base, label = base, pl.col("label")
        first = base.index.titles[0]
        verdicts = chosen.select(
            "raw_title",
            "cleaned",
            "normalized",
            matched_title=pl.lit(first),
            predicted_occupation_id=label,
            correct=pl.lit(True),
            corrected_occupation_id=pl.lit(None, pl.String),
        ).select(list(VERDICTS))
        workspace, params = base.workspace, base.workspace.params.pairs
        params = params.model_copy(update={"pairs_per_verdict": per_verdict})
        with TemporaryDirectory() as folder:
            place, rng = Path(folder), generator(1, "pairs", "retraining")
            write_corrected(workspace.pairs(BEFORE), verdicts, params, rng, place)
            self.strings = read_strings(place / "strings.parquet")
            self.pairs = read_pairs(place / "pairs.parquet", with_dissimilar=False)
        self.units = FeaturizedStrings.of(self.strings.titles, base.featurizer, CPU)

    def __call__(self, seed: int, held: float = 0.0) -> Weights:
        """Return the weights after all steps; `held`: weight of the strings' distance moved."""
        settings = replace(self.base.settings, seed=seed, held_weight=held)
        parts = self.strings, self.pairs, self.base.featurizer, settings, CPU
        run = TitleRun(*parts, units=self.units, before=self.base.weights)
        for step in range(settings.max_steps):
            run.step(step)
        return run.weights()


def arms(learn: Learner, base: Weights, held: float) -> Iterator[tuple[str, Weights, Weights]]:
    """Yield the weights of every arm that trains, and those that its index is embedded with."""
    plain = mean([learn(seed) for seed in SEEDS])
    yield "mean of three seeds", plain, plain
    half = mean([plain, base])
    yield "half of its change", half, half
    near = mean([learn(seed, held) for seed in SEEDS])
    yield f"strings held by {held:g}", near, near
    yield "mean of three seeds, index of the base", plain, base


def mean(weights: list[Weights]) -> Weights:
    """Return the mean of several networks' weights."""
    return {name: sum(one[name] for one in weights) / len(weights) for name in weights[0]}


def compared(
    base: Base, queried: pl.DataFrame, chosen: pl.DataFrame, per_verdict: int, held: float
) -> Iterator[tuple[str, dict[str, float]]]:
    """Yield every arm and its figures, first those without training."""
    board, names = base.board, queried["normalized"].unique().sort()
    asked = [board.titles[board.row[name]] for name in names]
    before = base.scores(base.weights, asked, chosen, base.weights)
    figures = Figures(base.index.occupations, queried, before)
    yield "not trained", figures.of(before, figures.best)
    for arm, weights, of_index in arms(Learner(base, chosen, per_verdict), base.weights, held):
        for rule, own in figures(base.scores(weights, asked, chosen, of_index)):
            yield arm + rule, own


def main() -> None:
    """Print the figures of every deal, choice and arm."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("package", type=Path)
    parser.add_argument("--deals", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--counts", type=int, nargs="+", default=[1000, 300])
    parser.add_argument("--choices", nargs="+", default=[*CHOICES])
    parser.add_argument("--steps", type=int, default=120)
    parser.add_argument("--rate", type=float, default=0.002)
    parser.add_argument("--share", type=float, default=1 / 3)
    parser.add_argument("--per-verdict", type=int, default=24)
    parser.add_argument("--held", type=float, default=200)
    options = parser.parse_args()
    torch.set_num_threads(1)
    board = Board(read_normalizer(options.package))
    base = Base(board, options.steps, options.rate, options.share)
    print("deal,chosen_by,reviewed,arm,n", *("success_at_1", "mrr_at_10"), sep=",", end=",")
    print("mended", "spoiled", "mended_agreeing", "spoiled_agreeing", sep=",")
    for count in options.counts:
        for deal in options.deals:
            dealt, queried = split_weeks(board.inputs, 2, deal)
            titles = titles_of(dealt)
            week = Pool(board, titles, deal).week(1)
            for choice in options.choices:
                chosen = titles.filter(pl.col("normalized").is_in(CHOICES[choice](week, count)))
                for arm, figures in compared(
                    base, queried, chosen, options.per_verdict, options.held
                ):
                    values = (f"{value:.4f}" for value in figures.values())
                    row = (deal, choice, len(chosen), f'"{arm}"', len(queried), *values)
                    print(*row, sep=",", flush=True)


if __name__ == "__main__":
    main()
