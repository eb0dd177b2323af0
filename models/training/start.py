"""A finished training that another one continues: featurizer, weights and history.

The second network stays near the first. Two networks from new weights, by contrast, answer a tenth
of all inputs differently, even if their pairs are nearly the same. Several trainings from one start
also stay near each other, so their weights can be averaged (Wortsman et al. 2022, "Model soups"):
the mean weakens what only one of them learned.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, Self

import torch
from safetensors.torch import load_file

from models.network.model_files import load_model
from models.reproducibility.seeding import child_seed
from models.text.featurizer import Featurizer
from models.training.loop import Look, Trained
from models.training.run import TrainSettings


class Start(NamedTuple):
    """Featurizer and result of the training before; units that it does not know stay unknown."""

    featurizer: Featurizer
    trained: Trained

    @classmethod
    def read(cls, folder: Path, encoder: Any) -> Self:  # noqa: ANN401  # the encoder's own class
        """Read what `train_files` wrote to a folder.

        Raises:
            ValueError: the network there is another than the settings `encoder` describe.
        """
        featurizer, network = load_model(folder / "model")
        if network.settings != encoder:
            raise ValueError(
                f"{folder}/model has the network {network.settings}, not {encoder}: train it again"
            )
        with (folder / "history.csv").open(encoding="utf-8", newline="") as file:
            rows = [*csv.DictReader(file)]
        looks = [
            Look(int(row["step"]), *(float(row[name]) for name in Look._fields[1:])) for row in rows
        ]
        initial = load_file(folder / "model" / "initial.safetensors")
        return cls(featurizer, Trained(network.state_dict(), initial, looks))

    def continued(self, after: Trained) -> Trained:
        """Return a training from here on as one with this: its steps follow.

        The weights of step 0 are those of the first training, the untrained network.
        """
        steps = self.trained.history[-1].step
        later = [look._replace(step=steps + look.step) for look in after.history[1:]]
        return Trained(after.weights, self.trained.initial, [*self.trained.history, *later])


def seeded(settings: TrainSettings, trainings: int) -> list[TrainSettings]:
    """Return the settings of several trainings, each with a seed of its own."""
    seeds = [child_seed(settings.seed, "training", str(number)) for number in range(trainings)]
    return [replace(settings, seed=seed) for seed in seeds]


def averaged(trainings: Sequence[Trained]) -> Trained:
    """Return the mean of the weights, and of the figures, of trainings from one start."""
    first = trainings[0]
    weights = {
        name: torch.stack([trained.weights[name] for trained in trainings]).mean(0)
        for name in first.weights
    }
    history = [
        Look(*(round(sum(values) / len(values), 6) for values in zip(*rows, strict=True)))
        for rows in zip(*(trained.history for trained in trainings), strict=True)
    ]
    return Trained(weights, first.initial, [row._replace(step=int(row.step)) for row in history])
