"""The training loop: a run in, weights and history out.

A run is an encoder, its optimizer and one update after another: Adam with gradient clipping
(Neculoiu et al. 2016, 3.1). `title_run.py` reads pairs of a taxonomy, `scored_run.py` scored pairs.
A run's score on validation data decides when to stop and which weights are kept.
"""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import torch

from models.network.embedding import FeaturizedStrings
from models.network.kinds import kind_of, loss_parts, make_encoder, plain
from models.network.loss import Loss, LossSettings, PairBatch
from models.reproducibility import Progress, child_seed
from models.text.featurizer import Featurizer
from models.training.checkpoints import Checkpoint, Checkpoints
from models.training.lazy_adam import LazyAdam, clip_rows

if TYPE_CHECKING:
    from jaxtyping import Float, Int
    from torch import Tensor


@dataclass(frozen=True)
class TrainSettings:
    """Everything that a run depends on besides its two files."""

    seed: int
    encoder: Any  # the settings of its kind (`models/network/kinds.py`)
    loss: LossSettings
    batch_pairs: int  # similar pairs a step
    learning_rate: float  # of Adam, at step 0
    schedule: Literal["constant", "linear"]  # linear: the rate falls to 0 at `max_steps`
    l2: float  # λ of a term λ‖θ‖² over all weights (Wieting et al. 2016, equation 2)
    clip_norm: float
    max_steps: int
    evaluate_every: int
    patience: int  # looks without a better score on validation data before training stops
    # whether a step changes only the rows that it reads, of an encoder that is one table
    sparse_updates: bool = False
    # share of people's verdicts in the similar pairs of a step; None: as in the pairs file
    judged_share: float | None = None
    # weight of the distance of strings that nobody judged from where the network before has them
    held_weight: float = 0.0

    def __post_init__(self) -> None:
        if self.sparse_updates and self.l2:
            fault = f"l2 = {self.l2} changes every row"
            raise ValueError(f"{fault}: set l2 to 0 or sparse_updates to false")


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


class Run(ABC):
    """The parts of a run on one device; without `weights` it starts from new ones."""

    def __init__(
        self,
        strings: FeaturizedStrings,
        featurizer: Featurizer,
        settings: TrainSettings,
        device: torch.device,
        weights: dict[str, Tensor] | None = None,
    ) -> None:
        torch.manual_seed(child_seed(settings.seed, "weights"))
        self.settings, self.device = settings, device
        own = weights and {name: value.clone() for name, value in weights.items()}
        self.encoder = make_encoder(settings.encoder, featurizer, own).to(device)
        self.encoder.sparse = settings.sparse_updates
        self.loss = loss_parts(kind_of(settings.loss))[1]
        self.strings = strings
        self.optimizer: torch.optim.Optimizer | LazyAdam
        parameters, rate = self.encoder.parameters(), settings.learning_rate
        if settings.sparse_updates:
            self.encoder.check_sparse(settings.encoder)
            self.optimizer = LazyAdam(parameters, rate)
        else:  # fused: its square roots are the same on all processors; 2λ is λ‖θ‖²'s gradient
            decay = 2 * settings.l2
            self.optimizer = torch.optim.Adam(parameters, rate, weight_decay=decay, fused=True)

    @property
    @abstractmethod
    def is_judged(self) -> bool:
        """Whether `valid_score` says anything."""

    @abstractmethod
    def valid_score(self) -> float:
        """Return how good the encoder is on validation data; higher is better."""

    def drift(self, rows: Int[Tensor, " batch"], embeddings: Float[Tensor, "batch dim"]) -> Tensor:
        """Return a cost of having moved away from a network before; of a run from new ones, 0."""
        return embeddings.new_zeros(())

    @abstractmethod
    def batch(self, step: int) -> tuple[Int[Tensor, " batch"], PairBatch]:
        """Return the strings of a step, each once, and who belongs to whom among them."""

    def step(self, step: int) -> Loss:
        """Make one update; its randomness depends on seed and step only."""
        torch.manual_seed(child_seed(self.settings.seed, "step", str(step)))
        self.encoder.train()
        for group in self.optimizer.param_groups:
            group["lr"] = learning_rate(self.settings, step)
        rows, batch = self.batch(step)
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.device.type == "cuda"):
            embeddings = self.encoder(*self.strings.batch(rows)).float()
        loss = self.loss(embeddings, batch, self.settings.loss)
        total = loss.total
        if self.settings.held_weight:
            total = total + self.settings.held_weight * self.drift(rows, embeddings)
        self.optimizer.zero_grad()
        total.backward()  # type: ignore[no-untyped-call]
        clip = clip_rows if self.settings.sparse_updates else torch.nn.utils.clip_grad_norm_
        clip(self.encoder.parameters(), self.settings.clip_norm)
        self.optimizer.step()
        return loss

    def weights(self) -> dict[str, Tensor]:
        """Copy the current weights to the CPU."""
        return {k: v.detach().cpu().clone() for k, v in self.encoder.state_dict().items()}


def train(run: Run, checkpoints: Checkpoints, say: Callable[[str], None] = print) -> Trained:
    """Train until `patience` or `max_steps` ends it, resuming from a matching checkpoint.

    A run without validation data cannot be judged: `max_steps` end it, the last weights are kept.
    FloatingPointError if the loss is no longer finite.
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
                where = f"{sums[0].item()} at step {progress.step}"
                raise FloatingPointError(f"the loss is {where}; lower learning_rate")
            _look(run, progress, tuple((sums / steps).tolist()), steps)
            checkpoints.save(run.encoder, run.optimizer, progress, ended=_ended(progress, settings))
            speed, (_, loss, similar, dissimilar, score) = steps / seconds, progress.history[-1]
            left = (settings.max_steps - progress.step) / speed
            say(
                f"step {progress.step}/{settings.max_steps}  loss {loss:.4f} "
                f"(similar {similar:.4f}, dissimilar {dissimilar:.4f})  valid {score:.3f}"
                f"{'' if progress.stale else ' *'}  {speed:.1f} steps/s, at most {left:.0f} s left"
            )
        return Trained(progress.weights, initial, [Look._make(row) for row in progress.history])


def learning_rate(settings: TrainSettings, step: int) -> float:
    """Return the learning rate of the update that step 0, 1, 2 … makes."""
    left = 1 - step / settings.max_steps if settings.schedule == "linear" else 1.0
    return settings.learning_rate * left


def describe(settings: TrainSettings) -> dict[str, object]:
    """Return the settings as plain JSON values, for checkpoints."""
    return asdict(settings) | {"encoder": plain(settings.encoder), "loss": plain(settings.loss)}


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
