"""Pairs of strings, and the batch of a step: a function of seed and step alone.

A batch can be had without the ones before it, so a run can be resumed. It holds the strings of some
similar pairs and of the dissimilar pairs that the loss reads; their occupations decide who is a
negative of whom.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import torch

from models.network.loss import PairBatch
from models.reproducibility.seeding import child_seed
from models.training.strings import Strings, known_negatives

if TYPE_CHECKING:
    from jaxtyping import Bool, Int
    from torch import Tensor

FEW = 50
"""Judged strings; fewer do not stand for the inputs, so their share of a batch is smaller."""


@dataclass(frozen=True)
class Pairs:
    """Rows of string ids, one pair each.

    Attributes:
        similar: pairs of one occupation.
        dissimilar: all dissimilar pairs of the file, or only those that people rejected.
        judged: which of `similar` come from people's verdicts; empty: none.
    """

    similar: Int[Tensor, "pair 2"]
    dissimilar: Int[Tensor, "pair 2"]
    judged: Bool[Tensor, " pair"] = field(default_factory=lambda: torch.zeros(0, dtype=torch.bool))


def read_pairs(path: Path, *, with_dissimilar: bool) -> Pairs:
    """Read ``anchor_id, other_id, similar, source``.

    Without `with_dissimilar`, for training that finds dissimilar pairs in its batches, only those
    of source `feedback` are kept of the dissimilar rows: no batch knows them.

    Raises:
        ValueError: the file holds no similar pair, or no dissimilar one where they are needed.
    """
    table = pq.read_table(path, columns=["anchor_id", "other_id", "similar", "source"])
    ids = np.stack([table[name].to_numpy() for name in ("anchor_id", "other_id")], 1)
    ids = ids.astype(np.int32)
    similar = table["similar"].to_numpy(zero_copy_only=False).astype(bool)
    judged = pc.equal(table["source"].cast(pa.string()), "feedback").to_numpy()
    if not similar.any():
        raise ValueError(f"{path}: no similar pair; every occupation has a single title")
    if with_dissimilar and similar.all():
        raise ValueError(f"{path}: no dissimilar pair; set loss.negatives to batch or hardest")
    dissimilar = ids[~similar] if with_dissimilar else ids[judged & ~similar]
    parts = (ids[similar], dissimilar, judged[similar])
    return Pairs(*(torch.from_numpy(part) for part in parts))


class Shuffled:
    """Endless shuffled batches of row numbers 0 … count-1, a new order each epoch.

    A batch has `batch` rows, `count` at most; an incomplete last batch of an epoch is skipped.
    """

    def __init__(self, count: int, batch: int, seed: int, device: torch.device) -> None:
        self.count, self.batch, self.seed, self.device = count, min(batch, count), seed, device
        self._epoch, self._order = -1, torch.empty(0, dtype=torch.long)

    def __call__(self, step: int) -> Int[Tensor, " batch"]:
        """Return the row numbers of the step; steps count from 0."""
        epoch, within = divmod(step, self.count // self.batch)
        if epoch != self._epoch:
            # drawn on the CPU, so that every device sees the same order
            draw = torch.Generator().manual_seed(child_seed(self.seed, "epoch", str(epoch)))
            self._order = torch.randperm(self.count, generator=draw).to(self.device)
            self._epoch = epoch
        return self._order[within * self.batch : (within + 1) * self.batch]


class Drawn:
    """Endless batches of row numbers 0 … count-1, each drawn with replacement."""

    def __init__(self, count: int, batch: int, seed: int, device: torch.device) -> None:
        self.count, self.batch, self.seed, self.device = count, batch, seed, device

    def __call__(self, step: int) -> Int[Tensor, " batch"]:
        """Return the row numbers of the step; steps count from 0."""
        draw = torch.Generator().manual_seed(child_seed(self.seed, "step", str(step)))
        return torch.randint(self.count, (self.batch,), generator=draw).to(self.device)


class TitleBatches:
    """Pairs of a strings table on one device, in batches of `count` similar pairs by step.

    With `reads_dissimilar` only the pairs of the file are negatives. With `judged_share` that share
    of a batch are pairs of people's verdicts; below `FEW` judged strings less, in proportion.
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
        judged_share: float | None = None,
    ) -> None:
        self.reads_dissimilar = reads_dissimilar
        self.occupations = strings.occupations.to(device)
        self.occupation_count = strings.occupation_count
        self.beside = torch.zeros(len(strings.titles), dtype=torch.bool, device=device)
        self.beside[strings.auxiliary.to(device)] = True
        similar, self.dissimilar = pairs.similar.to(device), pairs.dissimilar.to(device)
        self.similar: list[tuple[Tensor, Shuffled | Drawn]] = []
        rejected = len(self.dissimilar) / len(similar) * count
        if judged_share is not None and pairs.judged.any():
            judged, similar = similar[pairs.judged], similar[~pairs.judged]
            strings_judged = len(torch.unique(judged[:, 1]))
            drawn = round(judged_share * count * min(1, strings_judged / FEW))
            rows = Drawn(len(judged), drawn, child_seed(seed, "judged"), device)
            self.similar.append((judged, rows))
            count -= drawn
            if not reads_dissimilar:
                rejected = len(self.dissimilar) / len(judged) * drawn
        self.similar.append((similar, Shuffled(len(similar), count, seed, device)))
        if len(self.dissimilar):
            own = child_seed(seed, "dissimilar")
            size = max(1, round(rejected))
            self.dissimilar_rows = Shuffled(len(self.dissimilar), size, own, device)

    def __call__(self, step: int) -> tuple[Int[Tensor, " batch"], PairBatch]:
        """Return the strings of a step, each once, and who belongs to whom among them."""
        pairs = torch.cat([similar[rows(step)] for similar, rows in self.similar]).long()
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
