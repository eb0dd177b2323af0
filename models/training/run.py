"""A run: an encoder, its optimizer and one update after another; a subclass says what is read.

`models/training/title_run.py` reads pairs of a taxonomy, `models/training/scored_run.py` scored
pairs; the loop around a run is `models/training/loop.py`. Adam with gradient clipping (Neculoiu et
al. 2016, 3.1).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

import torch

from models.network.featurized_strings import FeaturizedStrings
from models.network.kinds import kind_of, loss_parts, make_encoder, plain
from models.network.loss import Loss, LossSettings, PairBatch
from models.reproducibility.seeding import child_seed
from models.text.featurizer import Featurizer
from models.training.lazy_adam import LazyAdam, clip_rows

if TYPE_CHECKING:
    from jaxtyping import Float, Int
    from torch import Tensor


@dataclass(frozen=True)
class TrainSettings:
    """Everything that a run depends on besides its two files."""

    seed: int
    encoder: Any
    """Settings of its kind (`models/network/kinds.py`)."""
    loss: LossSettings
    batch_pairs: int
    """Similar pairs a step."""
    learning_rate: float
    """Of Adam, at step 0."""
    schedule: Literal["constant", "linear"]
    """Whether the learning rate stays, or falls linearly to 0 at `max_steps`."""
    l2: float
    """λ of a term λ‖θ‖² over all weights (Wieting et al. 2016, equation 2)."""
    clip_norm: float
    max_steps: int
    evaluate_every: int
    patience: int
    """Looks at the validation queries without a better success@1 before training stops."""
    sparse_updates: bool = False
    """Whether a step changes only the rows that it reads, of an encoder that is one table."""
    judged_share: float | None = None
    """Of the similar pairs of a step, those of people's verdicts; None: as in the pairs file."""
    held_weight: float = 0.0
    """Of the distance of strings that nobody judged from where the network before has them."""

    def __post_init__(self) -> None:
        if self.sparse_updates and self.l2:
            raise ValueError(
                f"l2 = {self.l2} changes every row: set l2 to 0 or sparse_updates to false"
            )


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
        self.loss = loss_parts(kind_of(settings.loss))[1]
        self.optimizer = self._optimizer()
        self.strings = strings

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
        self.optimizer.zero_grad(set_to_none=True)
        total.backward()  # type: ignore[no-untyped-call]
        clip = clip_rows if self.settings.sparse_updates else torch.nn.utils.clip_grad_norm_
        clip(self.encoder.parameters(), self.settings.clip_norm)
        self.optimizer.step()
        return loss

    def _optimizer(self) -> torch.optim.Optimizer | LazyAdam:
        settings, parameters = self.settings, self.encoder.parameters()
        self.encoder.sparse = settings.sparse_updates
        if settings.sparse_updates:
            self.encoder.check_sparse(settings.encoder)
            return LazyAdam(parameters, settings.learning_rate)
        # fused: its square roots are the same on all processors; decay 2λ is λ‖θ‖²'s gradient
        return torch.optim.Adam(
            parameters, settings.learning_rate, weight_decay=2 * settings.l2, fused=True
        )

    def weights(self) -> dict[str, Tensor]:
        """Copy the current weights to the CPU."""
        return {
            name: value.detach().cpu().clone() for name, value in self.encoder.state_dict().items()
        }


def learning_rate(settings: TrainSettings, step: int) -> float:
    """Return the learning rate of the update that step 0, 1, 2 … makes."""
    left = 1 - step / settings.max_steps if settings.schedule == "linear" else 1.0
    return settings.learning_rate * left


def describe(settings: TrainSettings) -> dict[str, object]:
    """Return the settings as plain JSON values, for checkpoints."""
    return asdict(settings) | {"encoder": plain(settings.encoder), "loss": plain(settings.loss)}
