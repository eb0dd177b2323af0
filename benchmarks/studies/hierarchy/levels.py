"""A loss with levels: strings of one group are pulled together at every level of the hierarchy.

Zhang et al. 2022 ("Use All The Labels: A Hierarchical Multi-Label Contrastive Learning Framework",
CVPR, equation 3; HiMulCon) add up the supervised contrastive loss of all levels, a positive being
what shares the group at that level. Neculoiu et al. 2016 name such a loss as future work (section
5). Here it comes to the pipeline's own loss, which tells occupations apart, with one weight for the
mean over the levels; the paper's weights grow with the level.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

import polars as pl
import torch

from benchmarks.title_networks import Inputs, TitleNetworks
from models.losses.supervised_contrastive import (
    SupervisedContrastiveSettings,
    supervised_contrastive,
)
from models.network.loss import Loss, PairBatch
from models.training.checkpoints import run_key
from models.training.run import TrainSettings
from models.training.strings import told_apart
from models.training.title_run import TitleRun
from tasks.files.frames import read_frame
from tasks.files.schemas import STRINGS

if TYPE_CHECKING:
    from jaxtyping import Float, Int
    from torch import Tensor


@dataclass(frozen=True)
class Levels:
    """The groups of strings, broad to narrow.

    Attributes:
        groups: of each level the codes of a string's groups, padded with -1: of one whose
            occupation is unknown there are none.
    """

    groups: tuple[Int[Tensor, "string most"], ...]

    @classmethod
    def of(cls, strings: pl.DataFrame, codes: Mapping[str, Sequence[str]]) -> Self:
        """Number the groups of each string's occupations.

        Args:
            strings: schema `STRINGS`.
            codes: occupation to its groups, broad to narrow, equally many for all.
        """
        count = len(next(iter(codes.values())))
        held = strings["occupation_ids"].to_list()
        return cls(
            tuple(_padded([_groups(ids, codes, level) for ids in held]) for level in range(count))
        )

    def loss(
        self,
        embeddings: Float[Tensor, "batch dim"],
        rows: Int[Tensor, " batch"],
        settings: SupervisedContrastiveSettings,
    ) -> Float[Tensor, ""]:
        """Return the mean over the levels; strings of no known group are in none.

        Args:
            embeddings: of any norm.
            rows: ids of these strings, each once.
            settings: of the loss of one level.
        """
        return torch.stack(
            [
                supervised_contrastive(embeddings, together(groups[rows]), settings).total
                for groups in self.groups
            ]
        ).mean()


class LevelRun(TitleRun):
    """A run on titles whose loss has levels besides; `levels` and `weight` are set after it."""

    levels: Levels
    weight: float
    level_settings: SupervisedContrastiveSettings

    def objective(self, step: int) -> Loss:
        """Return the loss of a step's strings, and in its total that of the levels besides."""
        rows, batch = self.batch(step)
        embeddings = self.embed(rows)
        loss = self.loss(embeddings, batch, self.settings.loss)
        levels = self.levels.loss(embeddings, rows, self.level_settings)
        return loss._replace(total=loss.total + self.weight * levels)


@dataclass(frozen=True)
class LevelNetworks(TitleNetworks):
    """Networks on the pairs of one folder, trained with levels.

    Attributes:
        codes: occupation to its groups, broad to narrow.
        weight: of the mean loss of the levels.
        temperature: of that loss.
    """

    codes: Mapping[str, Sequence[str]] | None = None
    weight: float = 0.0
    temperature: float = 0.1

    def started(self, settings: TrainSettings) -> tuple[TitleRun, Inputs]:
        """Return a run at step 0 and what it reads."""
        plain, inputs = super().started(settings)
        if not self.weight or self.codes is None:
            return plain, inputs
        parts = inputs.strings, inputs.pairs, inputs.featurizer
        run = LevelRun(*parts, settings, plain.device)
        frame = read_frame(self.pairs / "strings.parquet", STRINGS)
        run.levels, run.weight = Levels.of(frame, self.codes), self.weight
        run.level_settings = SupervisedContrastiveSettings(self.temperature)
        return run, inputs

    def _key(self, settings: TrainSettings) -> str:
        plain = super()._key(settings)
        if not self.weight or self.codes is None:
            return plain
        known = sorted((name, list(groups)) for name, groups in self.codes.items())
        return run_key([plain, self.weight, self.temperature, known], [Path(__file__)])


def together(groups: Int[Tensor, "batch most"]) -> PairBatch:
    """Pair each two strings that share a group; told apart are those that share none."""
    apart = told_apart(groups)
    known = (groups >= 0).any(1)
    alike = (known[:, None] & known[None, :] & ~apart).triu(1)
    left, right = alike.nonzero(as_tuple=True)
    return PairBatch(left, right, apart, torch.empty(0, 2, dtype=torch.long))


def _groups(ids: Sequence[str], codes: Mapping[str, Sequence[str]], level: int) -> list[str]:
    return sorted({codes[occupation][level] for occupation in ids if occupation in codes})


def _padded(groups: Sequence[Sequence[str]]) -> Int[Tensor, "string most"]:
    numbers = {
        name: number for number, name in enumerate(sorted({name for own in groups for name in own}))
    }
    most = max((len(own) for own in groups), default=0)
    rows = [[*(numbers[name] for name in own), *[-1] * (most - len(own))] for own in groups]
    return torch.tensor(rows, dtype=torch.long).reshape(len(groups), most)
