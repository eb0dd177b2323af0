"""The training loop: strings and pairs in, weights and history out.

Adam with gradient clipping (Neculoiu et al. 2016, section 3.1); the success@1 of held-out
validation titles against the alias index decides when to stop and which weights are kept.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, NamedTuple

import torch

from models.batches import Pairs, Shuffled
from models.checkpoints import Checkpoint, Checkpoints
from models.contrastive import ContrastiveSettings, Loss, contrastive_loss
from models.embedding import embed_rows
from models.featurizer import CharacterFeaturizer
from models.mining import hardest
from models.recurrent import RecurrentEncoder, RecurrentSettings
from models.seeding import child_seed
from models.strings import FeaturizedStrings, Strings, share_occupation

if TYPE_CHECKING:
    from jaxtyping import Float, Int
    from torch import Tensor


@dataclass(frozen=True)
class TrainSettings:
    """Everything that a run depends on besides its two files."""

    seed: int
    encoder: RecurrentSettings
    loss: ContrastiveSettings
    batch_pairs: int
    """Similar pairs a step."""
    learning_rate: float
    clip_norm: float
    max_steps: int
    evaluate_every: int
    patience: int
    """Looks at the validation queries without a better success@1 before training stops."""


class Look(NamedTuple):
    """One row of the history; losses are means since the look before (NaN at step 0)."""

    step: int
    loss: float
    loss_similar: float
    loss_dissimilar: float
    valid_success_at_1: float


class Trained(NamedTuple):
    """The best weights, those of step 0, and what was seen on the way."""

    weights: dict[str, Tensor]
    initial: dict[str, Tensor]
    history: list[Look]


def train(
    strings: Strings,
    pairs: Pairs,
    featurizer: CharacterFeaturizer,
    settings: TrainSettings,
    checkpoints: Checkpoints,
    device: torch.device,
    say: Callable[[str], None] = print,
) -> Trained:
    """Train until `patience` or `max_steps` ends it, resuming from a matching checkpoint."""
    run = _Run(strings, pairs, featurizer, settings, device)
    initial = run.weights()
    progress = checkpoints.load(run.encoder, run.optimizer)
    if progress is None:
        progress = Checkpoint(step=0, best=-1.0, stale=0, weights=initial, history=[])
        _look(run, progress, (0.0, 0.0, 0.0), 0)
    else:
        say(f"resumed at step {progress.step}")
    while progress.step < settings.max_steps and progress.stale < settings.patience:
        steps = min(settings.evaluate_every, settings.max_steps - progress.step)
        began = time.perf_counter()
        sums = torch.zeros(3, device=device)
        for step in range(progress.step, progress.step + steps):
            sums += torch.stack(run.step(step)).detach()
        seconds = time.perf_counter() - began
        progress.step += steps
        _look(run, progress, tuple((sums / steps).tolist()), steps)
        checkpoints.save(run.encoder, run.optimizer, progress)
        say(_line(progress, settings, steps / seconds))
    return Trained(progress.weights, initial, [Look(*row) for row in progress.history])


def _look(run: _Run, progress: Checkpoint, losses: tuple[float, ...], steps: int) -> None:
    """Score the validation queries, note the row, keep the weights if they are the best."""
    success = run.valid_success_at_1()
    rounded = [round(loss, 6) for loss in losses] if steps else [float("nan")] * 3
    progress.history.append((progress.step, *rounded, round(success, 6)))
    if success > progress.best:
        progress.best, progress.stale, progress.weights = success, 0, run.weights()
    else:
        progress.stale += 1


def _line(progress: Checkpoint, settings: TrainSettings, speed: float) -> str:
    _, loss, alike, apart, success = progress.history[-1]
    left = (settings.max_steps - progress.step) / speed
    return (
        f"step {progress.step}/{settings.max_steps}  loss {loss:.4f} "
        f"(similar {alike:.4f}, dissimilar {apart:.4f})  valid success@1 {success:.3f}"
        f"{' *' if not progress.stale else ''}  {speed:.1f} steps/s, at most {left:.0f} s left"
    )


class _Run:
    """The parts of a run on one device."""

    def __init__(
        self,
        strings: Strings,
        pairs: Pairs,
        featurizer: CharacterFeaturizer,
        settings: TrainSettings,
        device: torch.device,
    ) -> None:
        torch.manual_seed(child_seed(settings.seed, "weights"))
        self.settings, self.device = settings, device
        self.encoder = RecurrentEncoder(settings.encoder, featurizer.vocabulary_size).to(device)
        self.optimizer = torch.optim.Adam(self.encoder.parameters(), lr=settings.learning_rate)
        self.strings = FeaturizedStrings.of(strings.titles, featurizer, device)
        self.occupations = strings.occupations.to(device)
        self.occupation_count = strings.occupation_count
        self.aliases, self.valid = strings.aliases.to(device), strings.valid.to(device)
        self.similar, self.dissimilar = pairs.similar.to(device), pairs.dissimilar.to(device)
        batch, seed = settings.batch_pairs, settings.seed
        self.similar_rows = Shuffled(len(self.similar), batch, seed, device)
        if settings.loss.negatives == "pairs":
            ratio = max(1, round(len(self.dissimilar) / len(self.similar)))
            self.dissimilar_rows = Shuffled(len(self.dissimilar), ratio * batch, seed + 1, device)

    def step(self, step: int) -> Loss:
        """One update; its randomness depends on seed and step only."""
        torch.manual_seed(child_seed(self.settings.seed, "step", str(step)))
        self.encoder.train()
        loss = self._loss(step)
        self.optimizer.zero_grad(set_to_none=True)
        loss.total.backward()
        torch.nn.utils.clip_grad_norm_(self.encoder.parameters(), self.settings.clip_norm)
        self.optimizer.step()
        return loss

    def _loss(self, step: int) -> Loss:
        pairs = self.similar[self.similar_rows(step)].long()
        count = len(pairs)
        if self.settings.loss.negatives == "pairs":
            pairs = torch.cat([pairs, self.dissimilar[self.dissimilar_rows(step)].long()])
        # a string that stands in several pairs is encoded once
        rows, place = pairs.unique(return_inverse=True)
        embeddings = self._embed(rows)
        if self.settings.loss.negatives == "pairs":
            left, right = place.unbind(1)
            similar = torch.arange(len(pairs), device=self.device) < count
            similarity = (embeddings[left] * embeddings[right]).sum(1)
            return contrastive_loss(similarity, similar, ~similar, self.settings.loss)
        codes = self.occupations[rows]
        dissimilar = ~share_occupation(codes, codes, self.occupation_count)
        similar = torch.zeros_like(dissimilar)
        similar[place[:, 0], place[:, 1]] = True
        similarity = embeddings @ embeddings.T
        if self.settings.loss.negatives == "hardest":
            dissimilar = hardest(similarity, dissimilar, self.settings.loss.hardest)
        return contrastive_loss(similarity, similar, dissimilar, self.settings.loss)

    def _embed(self, rows: Int[Tensor, " batch"]) -> Float[Tensor, "batch dim"]:
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.device.type == "cuda"):
            return self.encoder(*self.strings.batch(rows)).float()

    def valid_success_at_1(self) -> float:
        """Share of validation queries whose nearest alias shares an occupation with them."""
        if not len(self.valid):
            return 0.0
        index = embed_rows(self.encoder, self.strings, self.aliases)
        queries = embed_rows(self.encoder, self.strings, self.valid)
        found = self.aliases[(queries @ index.T).argmax(1)]
        gold, got = self.occupations[self.valid], self.occupations[found]
        hit = (gold[:, :, None] == got[:, None, :]) & (gold[:, :, None] >= 0)
        return hit.any(dim=(1, 2)).double().mean().item()

    def weights(self) -> dict[str, Tensor]:
        """A copy of the current weights on the CPU."""
        return {
            name: value.detach().cpu().clone() for name, value in self.encoder.state_dict().items()
        }


def describe(settings: TrainSettings) -> dict[str, object]:
    """The settings as plain JSON values, for checkpoints and saved models."""
    return asdict(settings)
