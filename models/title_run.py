"""A run on the titles of a taxonomy: pairs of the file, judged by validation titles.

A batch is the distinct strings of some similar pairs and of the dissimilar pairs that the loss
reads; who is told apart from whom follows from their occupations. The success@1 of held-out
validation titles against the alias index judges.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch

from models.batches import Pairs, Shuffled
from models.embedding import embed_rows
from models.featurizer import Featurizer
from models.frozen_space import FrozenSpace
from models.kinds import kind_of
from models.loss import PairBatch
from models.metrics import rank_gold, success_at_k
from models.occupation_scores import Memberships, best_scores
from models.run import Run, TrainSettings
from models.seeding import child_seed
from models.strings import Strings, told_apart

if TYPE_CHECKING:
    from jaxtyping import Int, Int64
    from torch import Tensor

BLOCK = 32  # validation queries compared with all aliases at once; more would leave the cache


class TitleRun(Run):
    """Strings and pairs on one device.

    Args:
        strings: the strings table.
        pairs: of it.
        featurizer: fitted on the training strings.
        settings: of the run.
        device: where everything lies.
        frozen: the space of an earlier model, for a loss that trains into it; validation queries
            are then looked up there.

    Raises:
        ValueError: the loss needs such a space and there is none, or the reverse.
    """

    def __init__(
        self,
        strings: Strings,
        pairs: Pairs,
        featurizer: Featurizer,
        settings: TrainSettings,
        device: torch.device,
        frozen: FrozenSpace | None = None,
    ) -> None:
        super().__init__(strings.titles, featurizer, settings, device)
        if settings.loss.needs_targets != (frozen is not None):
            raise ValueError(
                f"loss {kind_of(settings.loss)} with{'' if frozen else 'out'} an earlier model: "
                "name one in train.compatible_with exactly if the loss trains into its space"
            )
        self.frozen = frozen if frozen is None else frozen.to(device)
        if frozen is not None:
            frozen.check(self.encoder.dim)
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

    @property
    def is_judged(self) -> bool:
        """Whether there are validation queries."""
        return len(self.valid) > 0

    def batch(self, step: int) -> tuple[Int[Tensor, " batch"], PairBatch]:
        """The strings of a step, each once, and who belongs to whom among them."""
        pairs = self.similar[self.similar_rows(step)].long()
        count = len(pairs)
        if len(self.dissimilar):
            pairs = torch.cat([pairs, self.dissimilar[self.dissimilar_rows(step)].long()])
        rows, place = torch.unique(pairs, return_inverse=True)
        (left, right), dissimilar = place[:count].unbind(1), place[count:]
        if self.settings.loss.reads_dissimilar:
            apart = torch.zeros(len(rows), len(rows), dtype=torch.bool, device=self.device)
        else:
            apart = told_apart(self.occupations[rows], self.occupation_count)
        apart[dissimilar[:, 0], dissimilar[:, 1]] = True
        apart[dissimilar[:, 1], dissimilar[:, 0]] = True
        if self.frozen is None:
            return rows, PairBatch(left, right, apart, dissimilar)
        # a string is to meet the place of its partner and its own, where they have one
        left, right = torch.cat([left, right, left, right]), torch.cat([right, left, left, right])
        targets = self.frozen.targets(
            rows[right], self.occupations[rows[left]], self.occupation_count
        )
        return rows, PairBatch(left, right, apart, dissimilar, targets=targets)

    def valid_score(self) -> float:
        """Mean success@1 of the validation queries; 0 without any. Ties by expectation."""
        if self.frozen is None:
            aliases = embed_rows(self.encoder, self.strings, self.aliases)
        else:
            aliases = self.frozen.table
        queries = embed_rows(self.encoder, self.strings, self.valid)
        hits = 0.0
        for start in range(0, len(queries), BLOCK):
            gold = self.gold[start : start + BLOCK]
            reachable = (gold >= 0).any(axis=1)
            similarities = (queries[start : start + BLOCK] @ aliases.T).cpu().numpy()
            scores = best_scores(similarities[reachable], self.index)
            hits += float(success_at_k(rank_gold(scores, gold[reachable]), 1).sum())
        return hits / max(1, len(queries))


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
