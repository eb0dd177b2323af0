"""A finished training that another one continues: featurizer, weights and history.

What is learned then lies near what the first network had learned. Two trainings from new weights
answer a tenth of all inputs differently, whatever the few pairs are that one of them has more.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any, NamedTuple, Self

from safetensors.torch import load_file

from models.network.model_files import load_model
from models.text.featurizer import Featurizer
from models.training.loop import Look, Trained


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
