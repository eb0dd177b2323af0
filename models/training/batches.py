"""Pairs on the device, and which of them a step reads: a function of seed and step alone.

Any step's batch can be had without the ones before it, which is what makes a run resumable.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import torch

from models.reproducibility.seeding import child_seed

if TYPE_CHECKING:
    from jaxtyping import Int
    from torch import Tensor


@dataclass(frozen=True)
class Pairs:
    """Rows of string ids, one pair each.

    Attributes:
        similar: pairs of one occupation.
        dissimilar: all dissimilar pairs of the file, or only those that people rejected.
    """

    similar: Int[Tensor, "pair 2"]
    dissimilar: Int[Tensor, "pair 2"]


def read_pairs(path: Path, *, with_dissimilar: bool) -> Pairs:
    """Read ``anchor_id, other_id, similar, source``.

    Without `with_dissimilar`, for training that finds dissimilar pairs in its batches, only those
    of source `feedback` are kept of the dissimilar rows: no batch knows them.

    Raises:
        ValueError: the file holds no similar pair, or no dissimilar one where they are needed.
    """
    table = pq.read_table(path, columns=["anchor_id", "other_id", "similar", "source"])
    ids = np.stack([table["anchor_id"].to_numpy(), table["other_id"].to_numpy()], 1)
    similar = table["similar"].to_numpy(zero_copy_only=False).astype(bool)
    rejected = pc.equal(table["source"].cast(pa.string()), "feedback").to_numpy() & ~similar
    if not similar.any():
        raise ValueError(f"{path}: no similar pair; every occupation has a single title")
    if with_dissimilar and similar.all():
        raise ValueError(f"{path}: no dissimilar pair; set loss.negatives to batch or hardest")
    dissimilar = ids[~similar] if with_dissimilar else ids[rejected]
    return Pairs(_int32(ids[similar]), _int32(dissimilar))


def _int32(ids: np.ndarray) -> Tensor:
    return torch.from_numpy(ids.astype(np.int32))


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
