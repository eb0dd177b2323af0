"""The strings table of training: titles, their occupations and roles.

Occupations of a string are a padded matrix of codes, because a title can belong to several.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow.compute as pc
import pyarrow.parquet as pq
import torch

if TYPE_CHECKING:
    from jaxtyping import Bool, Int
    from torch import Tensor


@dataclass(frozen=True)
class Strings:
    """Strings by `string_id`, with roles as index tensors."""

    titles: list[str]
    occupations: Int[Tensor, "string most"]
    """Occupation codes, padded with -1; a string without any is one whose occupation is unknown."""
    aliases: Int[Tensor, " alias"]
    """Ids of the strings that an index is built from."""
    valid: Int[Tensor, " query"]
    """Ids of the validation queries."""
    auxiliary: Int[Tensor, " title"] = field(default_factory=lambda: torch.empty(0).long())
    """Ids of a second taxonomy's titles and copies; they are no negatives of the other strings."""

    @property
    def occupation_count(self) -> int:
        """Codes run from 0 to this, exclusive."""
        return int(self.occupations.max()) + 1


def read_strings(path: Path) -> Strings:
    """Read ``string_id, title, occupation_ids, role`` (see `docs/design/files.md`).

    Raises:
        ValueError: string ids are not 0, 1, 2 … or an alias has no occupation.
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
    return Strings(
        table["title"].to_pylist(),
        torch.from_numpy(occupations),
        torch.from_numpy(np.flatnonzero(role == "alias")),
        torch.from_numpy(np.flatnonzero(role == "valid")),
        torch.from_numpy(np.flatnonzero(np.isin(role, ("auxiliary_taxonomy", "noisy_auxiliary")))),
    )


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
