"""The strings and pairs of a taxonomy, and the batch of a step: a function of seed and step alone.

It holds the strings of some similar pairs and of the dissimilar pairs that the loss reads; their
occupations decide who is a negative of whom. A title can belong to several occupations.
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
from models.reproducibility import child_seed

if TYPE_CHECKING:
    from jaxtyping import Bool, Int
    from torch import Tensor

FEW = 50  # judged strings; fewer do not stand for the inputs, so their share of a batch is smaller


@dataclass(frozen=True)
class Strings:
    """Strings by `string_id`, with roles as index tensors."""

    titles: list[str]
    occupations: Int[Tensor, "string most"]  # codes, padded with -1; without any: unknown
    aliases: Int[Tensor, " alias"]  # ids of the strings that an index is built from
    valid: Int[Tensor, " query"]  # ids of the validation queries
    # ids of a second taxonomy's titles and copies; they are no negatives of the other strings
    auxiliary: Int[Tensor, " title"] = field(default_factory=lambda: torch.empty(0).long())

    @property
    def occupation_count(self) -> int:
        """Codes run from 0 to this, exclusive."""
        return int(self.occupations.max()) + 1


def read_strings(path: Path) -> Strings:
    """Read ``string_id, title, occupation_ids, role`` (see `docs/design/files.md`).

    ValueError if string ids are not 0, 1, 2 … or an alias has no occupation.
    """
    table = pq.read_table(path)
    if not np.array_equal(table["string_id"].to_numpy(), np.arange(len(table))):
        raise ValueError(f"{path}: string_id must count 0, 1, 2 …; rerun the stage pairs")
    lists = table["occupation_ids"].combine_chunks()
    counts = pc.list_value_length(lists).to_numpy(zero_copy_only=False)
    role = table["role"].to_numpy(zero_copy_only=False)
    if not counts.size or counts[role == "alias"].min(initial=1) < 1:
        raise ValueError(f"{path}: no strings, or an alias without an occupation")
    _, codes = np.unique(lists.flatten().to_numpy(zero_copy_only=False), return_inverse=True)
    occupations = np.full((len(table), counts.max()), -1, np.int64)
    occupations[np.arange(counts.max()) < counts[:, None]] = codes
    is_auxiliary = np.isin(role, ("auxiliary_taxonomy", "noisy_auxiliary"))
    ids = (np.flatnonzero(mask) for mask in (role == "alias", role == "valid", is_auxiliary))
    return Strings(table["title"].to_pylist(), *map(torch.from_numpy, (occupations, *ids)))


@dataclass(frozen=True)
class Pairs:
    """Rows of string ids, one pair each."""

    similar: Int[Tensor, "pair 2"]  # of one occupation
    dissimilar: Int[Tensor, "pair 2"]  # all of the file, or only those that people rejected
    # which of `similar` come from people's verdicts; empty: none
    judged: Bool[Tensor, " pair"] = field(default_factory=lambda: torch.zeros(0, dtype=torch.bool))


def read_pairs(path: Path, *, with_dissimilar: bool) -> Pairs:
    """Read ``anchor_id, other_id, similar, source``.

    Without `with_dissimilar`, for training that finds dissimilar pairs in its batches, only those
    of source `feedback` are kept of the dissimilar rows: no batch knows them. ValueError if the
    file holds no similar pair, or no dissimilar one where they are needed.
    """
    table = pq.read_table(path, columns=["anchor_id", "other_id", "similar", "source"])
    ends = [table[name].to_numpy() for name in ("anchor_id", "other_id")]
    ids = np.stack(ends, 1).astype(np.int32)
    similar = table["similar"].to_numpy(zero_copy_only=False).astype(bool)
    judged = pc.equal(table["source"].cast(pa.string()), "feedback").to_numpy()
    if not similar.any():
        raise ValueError(f"{path}: no similar pair; every occupation has a single title")
    if with_dissimilar and similar.all():
        raise ValueError(f"{path}: no dissimilar pair; set loss.negatives to batch or hardest")
    dissimilar = ids[~similar] if with_dissimilar else ids[judged & ~similar]
    return Pairs(*map(torch.from_numpy, (ids[similar], dissimilar, judged[similar])))


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


class TitleBatches:
    """Pairs of a strings table on one device, in batches of `count` similar pairs by step.

    With `reads_dissimilar` only the pairs of the file are negatives. `judged_share` of a batch are
    pairs of people's verdicts, drawn with replacement; below `FEW` judged strings less.
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
        self.reads_dissimilar, self.seed, self.device = reads_dissimilar, seed, device
        self.occupations = strings.occupations.to(device)
        self.is_auxiliary = torch.zeros(len(strings.titles), dtype=torch.bool, device=device)
        self.is_auxiliary[strings.auxiliary.to(device)] = True
        self.similar, self.dissimilar = pairs.similar.to(device), pairs.dissimilar.to(device)
        self.judged, self.drawn = self.similar[:0], 0
        rejected = len(self.dissimilar) / len(self.similar) * count
        if judged_share is not None and pairs.judged.any():
            self.judged = self.similar[pairs.judged]
            self.similar = self.similar[~pairs.judged]
            strings_judged = len(torch.unique(self.judged[:, 1]))
            self.drawn = round(judged_share * count * min(1, strings_judged / FEW))
            if not reads_dissimilar:
                rejected = len(self.dissimilar) / len(self.judged) * self.drawn
        self.similar_rows = Shuffled(len(self.similar), count - self.drawn, seed, device)
        if len(self.dissimilar):
            own, size = child_seed(seed, "dissimilar"), max(1, round(rejected))
            self.dissimilar_rows = Shuffled(len(self.dissimilar), size, own, device)

    def __call__(self, step: int) -> tuple[Int[Tensor, " batch"], PairBatch]:
        """Return the strings of a step, each once, and who belongs to whom among them."""
        pairs = self.similar[self.similar_rows(step)]
        if len(self.judged):
            seed = child_seed(child_seed(self.seed, "judged"), "step", str(step))
            draw = torch.Generator().manual_seed(seed)
            rows = torch.randint(len(self.judged), (self.drawn,), generator=draw)
            pairs = torch.cat([self.judged[rows.to(self.device)], pairs])
        count = len(pairs)
        if len(self.dissimilar):
            pairs = torch.cat([pairs, self.dissimilar[self.dissimilar_rows(step)]])
        rows, position = torch.unique(pairs.long(), return_inverse=True)
        (left, right), dissimilar = position[:count].unbind(1), position[count:]
        if self.reads_dissimilar:
            negative_mask = torch.zeros(len(rows), len(rows), dtype=torch.bool, device=rows.device)
        else:
            auxiliary = self.is_auxiliary[rows]
            negative_mask = known_negatives(self.occupations[rows])
            negative_mask &= auxiliary[:, None] == auxiliary
        negative_mask[dissimilar[:, 0], dissimilar[:, 1]] = True
        negative_mask[dissimilar[:, 1], dissimilar[:, 0]] = True
        return rows, PairBatch(left, right, negative_mask, dissimilar)


def known_negatives(codes: Int[Tensor, "batch most"]) -> Bool[Tensor, "batch batch"]:
    """Mark which two strings are known to have no occupation in common; codes are padded with -1.

    A string of unknown occupation may belong with any other, so it has no known negative.
    """
    string, slot = (codes >= 0).nonzero(as_tuple=True)
    code, order = codes[string, slot].sort()
    string = string[order]  # those of one occupation stand together
    _, group, sizes = torch.unique(code, return_inverse=True, return_counts=True)
    starts, size = sizes.cumsum(0) - sizes, sizes[group]
    one = torch.repeat_interleave(size)  # each row, as often as its occupation has strings
    other = torch.arange(len(one), device=codes.device) - (size.cumsum(0) - size)[one]
    known = (codes >= 0).any(1)
    negative_mask = known[:, None] & known[None, :]
    negative_mask[string[one], string[starts[group[one]] + other]] = False
    return negative_mask
