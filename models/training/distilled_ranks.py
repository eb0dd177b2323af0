"""The teacher's ranks of aliases for a title, and a loss that asks the network for the same.

Teacher and network each make a softmax of the cosines of some strings and aliases; the loss is the
cross-entropy between the two (top-one probabilities of ListNet, Cao et al. 2007; softened as by
Hinton et al. 2015). It needs no known occupation.
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
            raise ValueError("the teacher knows other titles than these: rerun the stage teacher")
        rows = torch.tensor([*row_of.values()], dtype=torch.long)
        return cls(rows, teacher.titles.table[known], nearest)

    def to(self, device: torch.device) -> DistilledRanks:
        """Return the same on `device`."""
        return DistilledRanks(*(part.to(device) for part in vars(self).values()))

    def draw(
        self, count: int, generator: torch.Generator
    ) -> tuple[Int[Tensor, " string"], Int[Tensor, " candidate"]]:
        """Draw places of `count` titles, with replacement, and of distinct aliases near to them."""
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

    The network's vectors are of any norm, the teacher's of unit norm. The loss is lowest, at the
    entropy of the teacher's softmax, where both are the same.
    """
    target = (teacher_strings @ teacher_candidates.T / settings.teacher_temperature).softmax(1)
    predicted = (unit(strings) @ unit(candidates).T / settings.temperature).log_softmax(1)
    return -(target * predicted).sum(1).mean()
