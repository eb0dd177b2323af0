"""The training loop: strings and pairs in, weights and history out.

Adam with gradient clipping (Neculoiu et al. 2016, section 3.1); the success@1 of held-out
validation titles against the alias index decides when to stop and which weights are kept.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
import torch

from models.batches import Pairs, Shuffled
from models.checkpoints import Checkpoint, Checkpoints
from models.contrastive import ContrastiveSettings, Loss, contrastive_loss
from models.embedding import embed_rows
from models.featurizer import CharacterFeaturizer
from models.metrics import rank_gold, success_at_k
from models.mining import hardest
from models.occupation_scores import Memberships, best_scores
from models.recurrent import RecurrentEncoder, RecurrentSettings
from models.seeding import child_seed
from models.strings import FeaturizedStrings, Strings, told_apart

if TYPE_CHECKING:
    from jaxtyping import Float, Int, Int64
    from torch import Tensor


BLOCK = 32  # validation queries compared with all aliases at once; more would leave the cache


@dataclass(frozen=True)
class TrainSettings:
    """Everything that a run depends on besides its two files."""

    seed: int
    encoder: RecurrentSettings
    loss: ContrastiveSettings
    batch_pairs: int
    """Similar pairs a step."""
    learning_rate: float
    """Of Adam, at step 0."""
    schedule: Literal["constant", "linear"]
    """Whether the learning rate stays, or falls linearly to 0 at `max_steps`."""
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
    """Train until `patience` or `max_steps` ends it, resuming from a matching checkpoint.

    Without a validation query nothing can be judged: `max_steps` end it, the last weights are kept.

    Raises:
        FloatingPointError: the loss is no longer finite.
    """
    run = Run(strings, pairs, featurizer, settings, device)
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
        if not sums.isfinite().all():
            raise FloatingPointError(
                f"the loss is {sums[0].item()} at step {progress.step}; lower learning_rate"
            )
        _look(run, progress, tuple((sums / steps).tolist()), steps)
        checkpoints.save(run.encoder, run.optimizer, progress)
        say(_line(progress, settings, steps / seconds))
    return Trained(progress.weights, initial, [Look._make(row) for row in progress.history])


def _look(run: Run, progress: Checkpoint, losses: tuple[float, ...], steps: int) -> None:
    """Score the validation queries, note the row, keep the weights if they are the best."""
    success = run.valid_success_at_1()
    rounded = [round(loss, 6) for loss in losses] if steps else [float("nan")] * 3
    progress.history.append((progress.step, *rounded, round(success, 6)))
    if success > progress.best or not len(run.valid):
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


class Run:
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
        self.index, self.gold = _index(strings)
        self.aliases, self.valid = strings.aliases.to(device), strings.valid.to(device)
        self.similar, self.dissimilar = pairs.similar.to(device), pairs.dissimilar.to(device)
        batch, seed = settings.batch_pairs, settings.seed
        self.similar_rows = Shuffled(len(self.similar), batch, seed, device)
        if len(self.dissimilar):
            share = len(self.dissimilar) / len(self.similar)
            self.dissimilar_rows = Shuffled(
                len(self.dissimilar),
                max(1, round(share * batch)),
                child_seed(seed, "dissimilar"),
                device,
            )

    def step(self, step: int) -> Loss:
        """One update; its randomness depends on seed and step only."""
        torch.manual_seed(child_seed(self.settings.seed, "step", str(step)))
        self.encoder.train()
        for group in self.optimizer.param_groups:
            group["lr"] = learning_rate(self.settings, step)
        loss = self._loss(step)
        self.optimizer.zero_grad(set_to_none=True)
        loss.total.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self.encoder.parameters(), self.settings.clip_norm)
        self.optimizer.step()
        return loss

    def _loss(self, step: int) -> Loss:
        pairs = self.similar[self.similar_rows(step)].long()
        count = len(pairs)
        if len(self.dissimilar):
            pairs = torch.cat([pairs, self.dissimilar[self.dissimilar_rows(step)].long()])
        # a string that stands in several pairs is encoded once
        rows, place = torch.unique(pairs, return_inverse=True)
        embeddings = self._embed(rows)
        left, right = place.unbind(1)
        if self.settings.loss.negatives == "pairs":
            similar = torch.arange(len(pairs), device=self.device) < count
            similarity = (embeddings[left] * embeddings[right]).sum(1)
            return contrastive_loss(similarity, similar, ~similar, self.settings.loss)
        dissimilar = told_apart(self.occupations[rows], self.occupation_count)
        similar = torch.zeros_like(dissimilar)
        similar[left[:count], right[:count]] = True
        similarity = embeddings @ embeddings.T
        if self.settings.loss.negatives == "hardest":
            dissimilar = hardest(similarity, dissimilar, self.settings.loss.hardest)
        dissimilar[left[count:], right[count:]] = True  # those that people rejected
        return contrastive_loss(similarity, similar, dissimilar, self.settings.loss)

    def _embed(self, rows: Int[Tensor, " batch"]) -> Float[Tensor, "batch dim"]:
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.device.type == "cuda"):
            embeddings: Tensor = self.encoder(*self.strings.batch(rows))
        return embeddings.float()

    def valid_success_at_1(self) -> float:
        """Mean over the validation queries; 0 without any. Ties by expectation, as everywhere."""
        aliases = embed_rows(self.encoder, self.strings, self.aliases)
        queries = embed_rows(self.encoder, self.strings, self.valid)
        hits = 0.0
        for start in range(0, len(queries), BLOCK):
            gold = self.gold[start : start + BLOCK]
            reachable = (gold >= 0).any(axis=1)
            similarities = (queries[start : start + BLOCK] @ aliases.T).cpu().numpy()
            scores = best_scores(similarities[reachable], self.index)
            hits += float(success_at_k(rank_gold(scores, gold[reachable]), 1).sum())
        return hits / max(1, len(queries))

    def weights(self) -> dict[str, Tensor]:
        """A copy of the current weights on the CPU."""
        return {
            name: value.detach().cpu().clone() for name, value in self.encoder.state_dict().items()
        }


def _index(strings: Strings) -> tuple[Memberships, Int64[np.ndarray, "query gold"]]:
    """The occupations of the aliases, numbered afresh, and the validation queries' gold among them.

    Gold that no alias holds is -1, as padding is: a query with nothing else is a miss.
    """
    codes = strings.occupations.numpy()
    held = codes[strings.aliases.numpy()]
    title, _ = np.nonzero(held >= 0)
    present, occupation = np.unique(held[held >= 0], return_inverse=True)
    wanted = codes[strings.valid.numpy()]
    place = np.searchsorted(present, wanted).clip(max=len(present) - 1)
    gold = np.where(present[place] == wanted, place, -1)
    return Memberships.from_pairs(title, occupation, len(present)), gold


def learning_rate(settings: TrainSettings, step: int) -> float:
    """Of the update that step 0, 1, 2 … makes."""
    left = 1 - step / settings.max_steps if settings.schedule == "linear" else 1.0
    return settings.learning_rate * left


def describe(settings: TrainSettings) -> dict[str, object]:
    """The settings as plain JSON values, for checkpoints and saved models."""
    return asdict(settings)
