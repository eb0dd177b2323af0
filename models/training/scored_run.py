"""A run on scored pairs or on paraphrases, judged by validation pairs of the same kind.

With scores (Mueller & Thyagarajan 2016, Bao et al. 2018) a step reads some of the pairs, and no
string is a negative of another. With paraphrases (Wieting et al. 2016) each pair is similar, and a
negative is any string of the step that is in no link with the other, be it of this step or not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch

from models.metrics.correlations import agreement
from models.metrics.retrieval import rank_gold, success_at_k
from models.network.embedding import BATCH, FeaturizedStrings, encode_rows
from models.network.encoder import Encoder
from models.network.kinds import kind_of
from models.network.loss import PairBatch, cosine, exp_manhattan, unit
from models.text.featurizer import Featurizer
from models.text.titles import clean_title
from models.training.batches import Shuffled
from models.training.loop import Run, TrainSettings

if TYPE_CHECKING:
    from jaxtyping import Float, Int
    from torch import Tensor

SIMILARITIES = {"cosine": cosine, "exp_manhattan": exp_manhattan}
BLOCK = 256  # validation strings compared with all others at once


@dataclass(frozen=True)
class ScoredPairs:
    """Pairs of strings with a score, or none for paraphrases, as rows of distinct strings."""

    titles: list[str]  # distinct and cleaned, in order: all left ones, then right
    left: Int[Tensor, " pair"]  # rows of `titles`
    right: Int[Tensor, " pair"]
    # how similar each pair is, in [0, 1], to which the caller brings the publisher's range; None:
    # paraphrases, each pair is similar
    scores: Float[Tensor, " pair"] | None

    @classmethod
    def of(
        cls, left: Sequence[str], right: Sequence[str], scores: Sequence[float] | None = None
    ) -> ScoredPairs:
        """Make pairs in the order of the arguments; none is allowed.

        ValueError if the lengths differ, or a score is outside of [0, 1] or no number.
        """
        if len(left) != len(right) or (scores is not None and len(scores) != len(left)):
            scored = "no" if scores is None else len(scores)
            fault = f"{len(left)} left and {len(right)} right strings with {scored} scores"
            raise ValueError(f"{fault}: give one of each for every pair")
        cleaned = [clean_title(title) for title in (*left, *right)]
        row_of = {title: row for row, title in enumerate(dict.fromkeys(cleaned))}
        rows = torch.tensor([row_of[title] for title in cleaned], dtype=torch.long)
        for at, score in enumerate(scores or ()):
            if not 0 <= score <= 1:
                fault = f"the score of pair {at} is {score}"
                raise ValueError(f"{fault}: bring scores to [0, 1], 1 for the most similar")
        values = None if scores is None else torch.tensor(scores, dtype=torch.float64).float()
        return cls(list(row_of), rows[: len(left)], rows[len(left) :], values)

    def __len__(self) -> int:
        return len(self.left)


class ScoredRun(Run):
    """A run on pairs, judged by `valid`; a step reads `batch_pairs` pairs.

    `valid` has scores exactly if `pairs` have; without a pair in it nothing is judged. ValueError
    if the pairs do not fit each other or the loss, or there is nothing to train on.
    """

    def __init__(
        self,
        pairs: ScoredPairs,
        valid: ScoredPairs,
        featurizer: Featurizer,
        settings: TrainSettings,
        device: torch.device,
    ) -> None:
        _require_fitting(pairs, valid, settings)
        strings = FeaturizedStrings([*pairs.titles, *valid.titles], featurizer, device)
        super().__init__(strings, featurizer, settings, device)
        self.left, self.right = pairs.left.to(device), pairs.right.to(device)
        self.scores = None if pairs.scores is None else pairs.scores.to(device)
        self.valid = valid
        self.valid_rows = torch.arange(len(valid.titles), device=device) + len(pairs.titles)
        self.pair_rows = Shuffled(len(pairs), settings.batch_pairs, settings.seed, device)
        # one number for each ordered pair of training strings that is linked
        self.count, ends = len(pairs.titles), (self.left, self.right)
        self.links = torch.unique(torch.cat([a * self.count + b for a, b in (ends, ends[::-1])]))

    @property
    def is_judged(self) -> bool:
        """Whether there are validation pairs, and those with scores have two different ones."""
        scores = self.valid.scores
        return len(self.valid) > 0 if scores is None else bool((scores != scores[:1]).any())

    def batch(self, step: int) -> tuple[Int[Tensor, " batch"], PairBatch]:
        """Return the strings of a step, each once, and who belongs to whom among them."""
        chosen = self.pair_rows(step)
        pairs = torch.stack([self.left[chosen], self.right[chosen]], 1)
        rows, position = torch.unique(pairs, return_inverse=True)
        left, right = position.unbind(1)
        none = torch.empty(0, 2, dtype=torch.long, device=self.device)
        negative_mask = torch.zeros(len(rows), len(rows), dtype=torch.bool, device=self.device)
        if self.scores is not None:
            return rows, PairBatch(left, right, negative_mask, none, scores=self.scores[chosen])
        keys = rows[:, None] * self.count + rows
        nearest = torch.searchsorted(self.links, keys).clamp(max=len(self.links) - 1)
        negative_mask = (self.links[nearest] != keys).fill_diagonal_(False)
        return rows, PairBatch(left, right, negative_mask, none)

    @torch.inference_mode()
    def valid_score(self) -> float:
        """Judge by the validation pairs, in [-1, 1] with scores, else in [0, 1]; higher is better.

        With scores Pearson's r of the predicted similarities, 0 where they are all equal. Of
        paraphrases success@1: how often the right string is the nearest of all right strings to its
        left string; ties count by expectation. 0 if nothing is judged.
        """
        if not self.is_judged:
            return 0.0
        outputs = encode_rows(self.encoder, self.strings, self.valid_rows)
        if self.valid.scores is None:
            return _success(outputs, self.valid, self.settings.loss.similarity)
        predicted = _predicted(outputs, self.valid, self.settings.loss.similarity)
        if not np.ptp(predicted):
            return 0.0
        return agreement("pearson", predicted, self.valid.scores.numpy())


def pair_similarities(
    encoder: Encoder,
    featurizer: Featurizer,
    left: Sequence[str],
    right: Sequence[str],
    similarity: str,
) -> Float[np.ndarray, " pair"]:
    """Return the similarity that the encoder gives each pair, in their order; higher is closer.

    `similarity` is ``cosine``, in [-1, 1], or ``exp_manhattan``, in [0, 1]
    (`LossSettings.similarity`). ValueError if the lengths differ, or the similarity is unknown.
    """
    pairs = ScoredPairs.of(left, right)
    strings = FeaturizedStrings(pairs.titles, featurizer, next(encoder.parameters()).device)
    outputs = encode_rows(encoder, strings, torch.arange(len(pairs.titles)))
    return _predicted(outputs, pairs, similarity)


def _predicted(
    outputs: Float[Tensor, "title dim"], pairs: ScoredPairs, similarity: str
) -> Float[np.ndarray, " pair"]:
    if similarity not in SIMILARITIES:
        raise ValueError(f"similarity {similarity!r}: choose {' or '.join(SIMILARITIES)}")
    similarities = np.empty(len(pairs))
    for start in range(0, len(pairs), BATCH):
        block = slice(start, start + BATCH)
        # in double precision, or what is far apart would be equally far, exp(-104) being 0
        left, right = outputs[pairs.left[block]].double(), outputs[pairs.right[block]].double()
        similarities[block] = SIMILARITIES[similarity](left, right).cpu().numpy()
    return similarities


def _success(outputs: Float[Tensor, "title dim"], pairs: ScoredPairs, similarity: str) -> float:
    """Return the mean success@1 of the right strings among all right strings."""
    candidates, gold = torch.unique(pairs.right, return_inverse=True)
    hits = 0.0
    for start in range(0, len(pairs), BLOCK):
        left, right = pairs.left[start : start + BLOCK], gold[start : start + BLOCK]
        if similarity == "cosine":
            scores = (unit(outputs[left]) @ unit(outputs[candidates]).T).cpu()
        else:
            scores = -torch.cdist(outputs[left], outputs[candidates], p=1).cpu()
        itself = (left[:, None] == candidates) & (left != candidates[right])[:, None]
        scores[itself] = -torch.inf
        hits += float(success_at_k(rank_gold(scores.numpy(), right[:, None].numpy()), 1).sum())
    return hits / len(pairs)


def _require_fitting(pairs: ScoredPairs, valid: ScoredPairs, settings: TrainSettings) -> None:
    if not len(pairs):
        raise ValueError("no pair to train on: name another data set, or look at what left it out")
    if (pairs.scores is None) != (valid.scores is None):
        raise ValueError("of training and validation pairs one has scores: judge by the same kind")
    kind, loss = kind_of(settings.loss), settings.loss
    if loss.needs_targets:
        raise ValueError(f"loss {kind} trains into the space of a reference model; there is none")
    if pairs.scores is None and loss.reads_dissimilar:
        fault = f"loss {kind} reads dissimilar pairs, of which paraphrases have none"
        raise ValueError(f"{fault}: choose one with negatives of the batch")
    if pairs.scores is not None and not loss.reads_scores:
        raise ValueError(f"loss {kind} cannot learn from scores: choose one that reads them")
