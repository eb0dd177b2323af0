"""What tests of both runs share: a training in a folder, equal results, kills without a trace."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from models.text.featurizer import Featurizer
from models.training.batches import Pairs, Strings
from models.training.checkpoints import Checkpoints, run_key
from models.training.loop import Run, Trained, TrainSettings, describe, train

CPU = torch.device("cpu")
Build = Callable[..., TrainSettings]
Toy = tuple[Strings, Pairs, Featurizer]


class Killed(BaseException):
    """What a kill looks like from inside: nothing catches it."""


def kill_after_a_look(line: str) -> None:
    if "loss" in line:  # of a look, not of the progress towards it
        raise Killed


def trained(run: Run, folder: Path, say: Callable[[str], object] = len) -> Trained:
    return train(run, Checkpoints(folder, run_key(describe(run.settings), [])), say)


def assert_same(one: Trained, other: Trained) -> None:
    assert repr(one.history) == repr(other.history)  # NaN equals itself here
    for ours, theirs in ((one.weights, other.weights), (one.initial, other.initial)):
        assert ours.keys() == theirs.keys()
        assert all(torch.equal(ours[name], theirs[name]) for name in ours)


def differ(some: dict[str, torch.Tensor], others: dict[str, torch.Tensor]) -> bool:
    return any(not torch.equal(some[name], value) for name, value in others.items())


def check_kills(make: Callable[[], Run], folder: Path, kills: int) -> Trained:
    """A run that looks every two steps, killed after looks, goes on to the same bits."""
    lines: list[str] = []
    whole = trained(make(), folder / "whole")
    for _ in range(kills):
        with pytest.raises(Killed):
            trained(make(), folder / "killed", kill_after_a_look)
    assert_same(whole, trained(make(), folder / "killed", lines.append))
    assert f"resumed at step {2 * kills}" in lines
    return whole
