"""State that comes back bit by bit, under the key of the very same run."""

import math
from pathlib import Path

import torch

from models.training.checkpoints import Checkpoint, Checkpoints, run_key


def trained(steps: int) -> tuple[torch.nn.Module, torch.optim.Adam]:
    torch.manual_seed(0)
    network = torch.nn.Linear(3, 2)
    optimizer = torch.optim.Adam(network.parameters(), lr=0.1)
    for _ in range(steps):
        step(network, optimizer)
    return network, optimizer


def step(network: torch.nn.Module, optimizer: torch.optim.Optimizer) -> None:
    optimizer.zero_grad()
    network(torch.ones(1, 3)).square().sum().backward()
    optimizer.step()


def test_state_comes_back(tmp_path: Path) -> None:
    network, optimizer = trained(3)
    history = [(0, math.nan, math.nan, math.nan, 0.1), (3, 0.1 + 0.2, 1e-30, 2.0, 1 / 3)]
    progress = Checkpoint(3, 1 / 3, 1, {"best": torch.tensor([0.1])}, history)
    Checkpoints(tmp_path, "k").save(network, optimizer, progress)
    fresh, fresh_optimizer = trained(0)
    loaded = Checkpoints(tmp_path, "k").load(fresh, fresh_optimizer)
    assert (loaded.step, loaded.best, loaded.stale) == (3, 1 / 3, 1)
    assert loaded.weights["best"].item() == torch.tensor(0.1).item()
    assert [repr(list(row)) for row in loaded.history] == [repr(list(row)) for row in history]
    for _ in range(4):
        step(network, optimizer)
        step(fresh, fresh_optimizer)
    for ours, theirs in zip(network.parameters(), fresh.parameters(), strict=True):
        assert torch.equal(ours, theirs)


def test_nothing_without_a_file_and_after_removal(tmp_path: Path) -> None:
    network, optimizer = trained(1)
    saved = Checkpoints(tmp_path / "new", "k")
    assert saved.load(network, optimizer) is None
    saved.save(network, optimizer, Checkpoint(1, 0.0, 0, {}, []))
    assert Checkpoints(tmp_path / "new", "other").load(network, optimizer) is None
    saved.remove()
    assert saved.load(network, optimizer) is None
    assert list((tmp_path / "new").iterdir()) == []


def test_the_key_depends_on_settings_and_contents(tmp_path: Path) -> None:
    first, second = tmp_path / "1", tmp_path / "2"
    first.write_text("a")
    second.write_text("b")
    key = run_key({"x": 1, "y": 2}, [first, second])
    assert key == run_key({"y": 2, "x": 1}, [second, first])
    assert key != run_key({"x": 1, "y": 3}, [first, second])
    second.write_text("c")
    assert key != run_key({"x": 1, "y": 2}, [first, second])
