"""Several trainings from one start: seeds of their own, and the mean of what they learned."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch

from models.training.loop import Look, Trained
from models.training.run import TrainSettings
from models.training.start import averaged, seeded


def test_each_training_has_a_seed_of_its_own(
    train_settings: Callable[..., TrainSettings],
) -> None:
    """More trainings keep those that there were."""
    settings = train_settings(seed=3)
    seeds = [own.seed for own in seeded(settings, 4)]
    assert len({3, *seeds}) == 5
    assert [own.seed for own in seeded(settings, 2)] == seeds[:2]
    assert [own.seed for own in seeded(train_settings(seed=4), 2)] != seeds[:2]


def test_the_mean_by_hand() -> None:
    """Weights (1, 4), (2, 5) and (6, 0) have the mean (3, 3); losses .5, .25 and .75 have .5."""
    initial = {"table": torch.zeros(2)}

    def trained(one: float, other: float, loss: float) -> Trained:
        looks = [Look(0, *[math.nan] * 4), Look(7, loss, -loss, 2 * loss, math.nan)]
        return Trained({"table": torch.tensor([one, other]).float()}, initial, looks)

    mean = averaged([trained(1, 4, 0.5), trained(2, 5, 0.25), trained(6, 0, 0.75)])
    assert mean.weights["table"].tolist() == [3, 3]
    assert mean.initial is initial
    assert mean.history[1][:4] == (7, 0.5, -0.5, 1.0)
    assert [type(look.step) for look in mean.history] == [int, int]
