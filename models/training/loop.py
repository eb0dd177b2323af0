"""The training loop: a run in, weights and history out.

A run's score on validation data decides when to stop and which weights are kept.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import torch

from models.reproducibility.progress import Progress
from models.training.checkpoints import Checkpoint, Checkpoints
from models.training.run import Run, TrainSettings

if TYPE_CHECKING:
    from torch import Tensor


class Look(NamedTuple):
    """One row of the history; losses are means since the look before (NaN at step 0)."""

    step: int
    loss: float
    loss_similar: float
    loss_dissimilar: float
    valid_score: float


class Trained(NamedTuple):
    """The best weights, those of step 0, and what was seen on the way."""

    weights: dict[str, Tensor]
    initial: dict[str, Tensor]
    history: list[Look]


def train(run: Run, checkpoints: Checkpoints, say: Callable[[str], None] = print) -> Trained:
    """Train until `patience` or `max_steps` ends it, resuming from a matching checkpoint.

    A run without validation data cannot be judged: `max_steps` end it, the last weights are kept.

    Raises:
        FloatingPointError: the loss is no longer finite.
    """
    with _deterministic(run.device):
        settings, initial = run.settings, run.weights()
        progress = checkpoints.load(run.encoder, run.optimizer)
        if progress is None:
            progress = Checkpoint(step=0, best=-math.inf, stale=0, weights=initial, history=[])
            _look(run, progress, (0.0, 0.0, 0.0), 0)
        else:
            say(f"resumed at step {progress.step}")
        while not _ended(progress, settings):
            steps = min(settings.evaluate_every, settings.max_steps - progress.step)
            began = time.perf_counter()
            line = Progress("step", settings.max_steps, say, progress.step)
            sums = torch.zeros(3, device=run.device)
            for step in range(progress.step, progress.step + steps):
                sums += torch.stack(run.step(step)).detach()
                line(step + 1)
            seconds = time.perf_counter() - began
            progress.step += steps
            if not sums.isfinite().all():
                raise FloatingPointError(
                    f"the loss is {sums[0].item()} at step {progress.step}; lower learning_rate"
                )
            _look(run, progress, tuple((sums / steps).tolist()), steps)
            checkpoints.save(run.encoder, run.optimizer, progress, ended=_ended(progress, settings))
            say(_line(progress, settings, steps / seconds))
        return Trained(progress.weights, initial, [Look._make(row) for row in progress.history])


def _ended(progress: Checkpoint, settings: TrainSettings) -> bool:
    return progress.step >= settings.max_steps or progress.stale >= settings.patience


@contextmanager
def _deterministic(device: torch.device) -> Iterator[None]:
    """On the CPU, let every sum have one order: threads add up gradients of rows as they come.

    Memory that is about to be written need not be filled first, which costs a fifth of a step.
    """
    before = torch.are_deterministic_algorithms_enabled()
    memory: Any = torch.utils.deterministic  # a module with a setting that its type does not have
    filled = memory.fill_uninitialized_memory
    torch.use_deterministic_algorithms(device.type == "cpu")
    memory.fill_uninitialized_memory = False
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(before)
        memory.fill_uninitialized_memory = filled


def _look(run: Run, progress: Checkpoint, losses: tuple[float, ...], steps: int) -> None:
    """Score the validation data, note the row, keep the weights if they are the best."""
    score = run.valid_score()
    rounded = [round(loss, 6) for loss in losses] if steps else [float("nan")] * 3
    progress.history.append((progress.step, *rounded, round(score, 6)))
    if score > progress.best or not run.is_judged:
        progress.best, progress.stale = score, 0
        progress.weights = run.weights() if steps else progress.weights  # at step 0 the same
    else:
        progress.stale += 1


def _line(progress: Checkpoint, settings: TrainSettings, speed: float) -> str:
    _, loss, similar, dissimilar, score = progress.history[-1]
    left = (settings.max_steps - progress.step) / speed
    return (
        f"step {progress.step}/{settings.max_steps}  loss {loss:.4f} "
        f"(similar {similar:.4f}, dissimilar {dissimilar:.4f})  valid {score:.3f}"
        f"{' *' if not progress.stale else ''}  {speed:.1f} steps/s, at most {left:.0f} s left"
    )
