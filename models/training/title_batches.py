"""The batches of training on titles: distinct strings, and which of them are similar or not.

A batch holds the strings of some similar pairs and of the dissimilar pairs that the loss reads;
their occupations decide who is a negative of whom.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from models.network.loss import PairBatch
from models.reproducibility.seeding import child_seed
from models.training.batches import Pairs, Shuffled
from models.training.strings import Strings, known_negatives

if TYPE_CHECKING:
    from jaxtyping import Int
    from torch import Tensor


class TitleBatches:
    """Pairs of a strings table on one device, in batches of `count` similar pairs by step.

    With `reads_dissimilar` only the pairs of the file are negatives.
    """

    def __init__(
        self,
        strings: Strings,
        pairs: Pairs,
        count: int,
        seed: int,
        device: torch.device,
        *,
        reads_dissimilar: bool,
    ) -> None:
        self.reads_dissimilar = reads_dissimilar
        self.occupations = strings.occupations.to(device)
        self.occupation_count = strings.occupation_count
        self.beside = torch.zeros(len(strings.titles), dtype=torch.bool, device=device)
        self.beside[strings.auxiliary.to(device)] = True
        self.similar, self.dissimilar = pairs.similar.to(device), pairs.dissimilar.to(device)
        self.similar_rows = Shuffled(len(self.similar), count, seed, device)
        if len(self.dissimilar):
            share = len(self.dissimilar) / len(self.similar)
            self.dissimilar_rows = Shuffled(
                len(self.dissimilar),
                max(1, round(share * count)),
                child_seed(seed, "dissimilar"),
                device,
            )

    def __call__(self, step: int) -> tuple[Int[Tensor, " batch"], PairBatch]:
        """Return the strings of a step, each once, and who belongs to whom among them."""
        pairs = self.similar[self.similar_rows(step)].long()
        count = len(pairs)
        if len(self.dissimilar):
            pairs = torch.cat([pairs, self.dissimilar[self.dissimilar_rows(step)].long()])
        rows, place = torch.unique(pairs, return_inverse=True)
        (left, right), dissimilar = place[:count].unbind(1), place[count:]
        if self.reads_dissimilar:
            negative_mask = torch.zeros(len(rows), len(rows), dtype=torch.bool, device=rows.device)
        else:
            negative_mask = known_negatives(self.occupations[rows])
            negative_mask &= self.beside[rows][:, None] == self.beside[rows][None, :]
        negative_mask[dissimilar[:, 0], dissimilar[:, 1]] = True
        negative_mask[dissimilar[:, 1], dissimilar[:, 0]] = True
        return rows, PairBatch(left, right, negative_mask, dissimilar)
