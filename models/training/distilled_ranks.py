"""The teacher's ranks: which aliases it finds near to a title, and a loss that asks for the same.

Of some strings and aliases both teacher and network make a softmax of their cosines; the loss is
the cross-entropy between the two (top-one probabilities of ListNet, Cao et al. 2007; softened as by
Hinton et al. 2015). It speaks of strings whose occupation nobody knows as of any other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from models.network.loss import unit
from models.training.strings import Strings
from models.training.teacher import Teacher, TeacherSettings

if TYPE_CHECKING:
    from jaxtyping import Float, Float16, Int
    from torch import Tensor


@dataclass(frozen=True)
class DistilledRanks:
    """The titles of a strings table that the teacher knows, each once.

    Attributes:
        rows: a string of each title; never a validation query.
        vectors: the teacher's, of unit norm.
        nearest: places, in `rows`, of the aliases nearest to each.
    """

    rows: Int[Tensor, " title"]
    vectors: Float16[Tensor, "title dim"]
    nearest: Int[Tensor, "title near"]

    @classmethod
    def of(cls, teacher: Teacher, strings: Strings) -> DistilledRanks:
        """Look up the strings.

        Raises:
            ValueError: the teacher knows none of them, or an alias that they have not.
        """
        place = {title: number for number, title in enumerate(teacher.titles.texts)}
        unseen = set(strings.valid.tolist())
        row_of: dict[int, int] = {}
        for row, title in enumerate(strings.titles):
            if title in place and row not in unseen:
                row_of.setdefault(place[title], row)
        known = torch.tensor([*row_of], dtype=torch.long)
        own = torch.full((len(place),), -1)
        own[known] = torch.arange(len(known))
        nearest = own[teacher.nearest[known]]
        if not len(known) or (nearest < 0).any():
            raise ValueError("the teacher was asked about other titles: rerun the stage teacher")
        rows = torch.tensor([*row_of.values()], dtype=torch.long)
        return cls(rows, teacher.titles.table[known], nearest)

    def to(self, device: torch.device) -> DistilledRanks:
        """Return the same on `device`."""
        return DistilledRanks(*(part.to(device) for part in vars(self).values()))

    def draw(
        self, count: int, generator: torch.Generator
    ) -> tuple[Int[Tensor, " string"], Int[Tensor, " candidate"]]:
        """Return places of some titles, with replacement, and of the distinct aliases near to them.

        Args:
            count: of titles; each draws one of its nearest aliases.
            generator: on the CPU, so that every device draws the same.
        """
        device = self.rows.device
        title, near = (
            torch.randint(most, (count,), generator=generator).to(device)
            for most in self.nearest.shape
        )
        return title, torch.unique(self.nearest[title, near])


def rank_loss(
    strings: Float[Tensor, "string dim"],
    candidates: Float[Tensor, "candidate dim"],
    teacher_strings: Float[Tensor, "string teacher"],
    teacher_candidates: Float[Tensor, "candidate teacher"],
    settings: TeacherSettings,
) -> Float[Tensor, ""]:
    """Return the mean cross-entropy of the network's softmax against the teacher's; 0 or more.

    Lowest, at the entropy of the teacher's, where both are the same; a network to which all is
    alike has the logarithm of the number of candidates.

    Args:
        strings: the network's embeddings, of any norm.
        candidates: the same, of the aliases.
        teacher_strings: of unit norm.
        teacher_candidates: of unit norm.
        settings: the two temperatures.
    """
    wanted = (teacher_strings @ teacher_candidates.T / settings.teacher_temperature).softmax(1)
    said = (unit(strings) @ unit(candidates).T / settings.temperature).log_softmax(1)
    return -(wanted * said).sum(1).mean()
