"""Resumable training state, keyed by everything that the result depends on.

DVC deletes a stage's outputs before it runs, so checkpoints lie elsewhere.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from safetensors import safe_open
from safetensors.torch import save_file

from models.reproducibility import atomic_write

if TYPE_CHECKING:
    from torch import Tensor

    from models.training.lazy_adam import LazyAdam

    Optimizer = torch.optim.Optimizer | LazyAdam


@dataclass
class Checkpoint:
    """How far a run is: step, best validation value and its weights, looks since, history."""

    step: int
    best: float
    stale: int
    weights: dict[str, Tensor]
    history: list[tuple[float, ...]]


def run_key(settings: object, files: Iterable[Path]) -> str:
    """Hash the settings and the content of `files` (inputs and source code)."""
    digest = hashlib.sha256(json.dumps(settings, sort_keys=True).encode())
    for path in sorted(files):
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()[:20]


class Checkpoints:
    """One file in `folder`, named by the run's key."""

    def __init__(self, folder: Path, key: str) -> None:
        self.path = folder / f"{key}.safetensors"

    def save(
        self,
        encoder: torch.nn.Module,
        optimizer: Optimizer,
        progress: Checkpoint,
        *,
        ended: bool = False,
    ) -> None:
        """Write the state, whole or not at all; of a run that has ended, its weights alone."""
        best, current = progress.weights, encoder.state_dict()
        tensors = {f"best.{k}": v for k, v in best.items()}
        same = current.keys() == best.keys() and all(
            torch.equal(value.cpu(), best[name]) for name, value in current.items()
        )
        if not (ended and same):
            tensors |= {f"current.{k}": v for k, v in current.items()}
        if not ended:
            for number, slots in optimizer.state_dict()["state"].items():
                tensors |= {f"adam.{number}.{slot}": value for slot, value in slots.items()}
        numbers = {k: getattr(progress, k) for k in ("step", "best", "stale", "history")}
        copies = {name: value.detach().cpu().contiguous() for name, value in tensors.items()}
        with atomic_write(self.path) as partial:
            save_file(copies, partial, {"progress": json.dumps(numbers)})

    def load(self, encoder: torch.nn.Module, optimizer: Optimizer) -> Checkpoint | None:
        """Put the state back into `encoder` and `optimizer`; None where there is none."""
        if not self.path.is_file():
            return None
        with safe_open(self.path, "pt") as file:
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            numbers = json.loads(file.metadata()["progress"])
        encoder.load_state_dict(_below(tensors, "current.") or _below(tensors, "best."))
        state: dict[int, dict[str, Tensor]] = {}
        for name, value in _below(tensors, "adam.").items():
            number, slot = name.split(".", 1)
            state.setdefault(int(number), {})[slot] = value
        optimizer.load_state_dict(optimizer.state_dict() | {"state": state})
        return Checkpoint(weights=_below(tensors, "best."), **numbers)

    def remove(self) -> None:
        """Forget the state, once the run's result is written."""
        self.path.unlink(missing_ok=True)


def _below(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {k.removeprefix(prefix): v for k, v in tensors.items() if k.startswith(prefix)}
