"""The space of a reference model: its embeddings of the aliases, which a new model learns to hit.

Consumers that stored those embeddings need not recompute them. The table is frozen (Bhat, Kumar and
Tsvetkov 2019, section 2: u is pre-trained), so that no loss can make everything collapse.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import torch

from models.network.embedding import embed_titles
from models.network.loss import Targets
from models.network.model_files import load_model
from models.training.strings import Strings

if TYPE_CHECKING:
    from jaxtyping import Bool, Float, Int
    from torch import Tensor


@dataclass(frozen=True)
class FrozenSpace:
    """One target an alias.

    Attributes:
        table: unit-norm embeddings of the aliases of the strings table, in their order.
        row_of: the target of each string, -1 for a string that is no alias.
        occupations: codes of each target, padded with -1.
    """

    table: Float[Tensor, "target dim"]
    row_of: Int[Tensor, " string"]
    occupations: Int[Tensor, "target most"]

    @classmethod
    def of_aliases(cls, earlier: Path, strings: Strings) -> FrozenSpace:
        """Embed the aliases by the model in the folder `earlier`."""
        featurizer, encoder = load_model(earlier)
        titles = [strings.titles[row] for row in strings.aliases.tolist()]
        row_of = torch.full((len(strings.titles),), -1)
        row_of[strings.aliases] = torch.arange(len(titles))
        return cls(
            embed_titles(encoder, featurizer, titles), row_of, strings.occupations[strings.aliases]
        )

    def to(self, device: torch.device) -> FrozenSpace:
        """Return the same on `device`."""
        return FrozenSpace(*(part.to(device) for part in vars(self).values()))

    def check(self, dim: int) -> None:
        """Raise a ValueError if an encoder's embeddings have another dimension than the space."""
        space = self.table.shape[1]
        if dim != space:
            raise ValueError(
                f"the reference model's embeddings have {space} dimensions, this encoder's {dim}; "
                f"set its dimension to {space}"
            )

    def targets(
        self, others: Int[Tensor, " pair"], codes: Int[Tensor, "pair most"], count: int
    ) -> Targets:
        """Return the targets of the left strings of some pairs, with their negatives.

        `others` are string ids of the right strings (no target unless an alias), `codes` the
        occupations of the left ones, padded with -1, of `count` occupations.
        """
        return Targets(self.table, self.row_of[others], lambda: self._negative_mask(codes, count))

    def _negative_mask(
        self, codes: Int[Tensor, "pair most"], count: int
    ) -> Bool[Tensor, "pair target"]:
        hot = torch.zeros(count + 1, len(codes), dtype=torch.bool, device=codes.device)
        pairs = torch.arange(len(codes), device=codes.device)[:, None]
        hot[torch.where(codes < 0, count, codes), pairs] = True
        hot[count] = False
        shared = torch.zeros(len(self.table), len(codes), dtype=torch.bool, device=codes.device)
        for column in self.occupations.unbind(1):
            shared |= hot[column]  # -1 reads the last row, which is empty
        known = (codes >= 0).any(1)
        return ~shared.T & known[:, None]
