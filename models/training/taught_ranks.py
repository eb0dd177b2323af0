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
from models.repeatable.progress import Progress
from models.training.strings import Strings
from models.training.teacher import TeacherSettings, Vectors

if TYPE_CHECKING:
    from jaxtyping import Float, Float16, Int
    from torch import Tensor

BLOCK = 512  # titles compared with all aliases at once


@dataclass(frozen=True)
class TaughtRanks:
    """The titles of a strings table that the teacher knows, each once.

    Attributes:
        rows: a string of each title, the aliases first; never a validation query.
        vectors: the teacher's, of unit norm.
        nearest: places, in `rows`, of the aliases nearest to each; an alias is its own nearest.
    """

    rows: Int[Tensor, " title"]
    vectors: Float16[Tensor, "title dim"]
    nearest: Int[Tensor, "title near"]

    @classmethod
    def of(cls, titles: Vectors, strings: Strings, nearest: int) -> TaughtRanks:
        """Look up the strings and find their nearest aliases, all of them if there are fewer.

        Raises:
            ValueError: the teacher knows no alias.
        """
        place = {title: number for number, title in enumerate(titles.texts)}
        aliases, unseen = strings.aliases.tolist(), set(strings.valid.tolist())
        row_of: dict[str, int] = {}
        for row in (*aliases, *range(len(strings.titles))):
            if row not in unseen and strings.titles[row] in place:
                row_of.setdefault(strings.titles[row], row)
        rows = torch.tensor([*row_of.values()], dtype=torch.long)
        vectors = titles.table[[place[title] for title in row_of]]
        known = int(torch.isin(rows, strings.aliases).sum())
        if not known:
            raise ValueError(
                "the teacher has no vector of any alias: rerun the stage teacher on these titles"
            )
        return cls(rows, vectors, _nearest(vectors, known, nearest))

    def to(self, device: torch.device) -> TaughtRanks:
        """Return the same on `device`."""
        return TaughtRanks(*(part.to(device) for part in vars(self).values()))

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


def _nearest(
    vectors: Float16[Tensor, "title dim"], aliases: int, count: int
) -> Int[Tensor, "title near"]:
    """Return of the first `aliases` places the `count` with the highest cosine to each title."""
    table, count = vectors[:aliases].float(), min(count, aliases)
    near = torch.empty(len(vectors), count, dtype=torch.long)
    progress = Progress("titles compared with the teacher's aliases:", len(vectors))
    for start in range(0, len(vectors), BLOCK):
        block = slice(start, start + BLOCK)
        near[block] = (vectors[block].float() @ table.T).topk(count).indices
        progress(min(start + BLOCK, len(vectors)))
    return near
