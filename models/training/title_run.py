"""A run on the titles of a taxonomy: batches of pairs (`title_batches.py`), judged by success@1.

Held-out validation titles are looked up in the alias index.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import torch

from models.metrics.gold_ranks import rank_gold, success_at_k
from models.network.embedding import embed_rows
from models.network.kinds import kind_of
from models.network.loss import PairBatch
from models.ranking.index import AliasIndex
from models.ranking.occupation_scores import best_scores
from models.text.featurizer import Featurizer
from models.training.batches import Pairs
from models.training.frozen_space import FrozenSpace
from models.training.run import Run, TrainSettings
from models.training.strings import Strings
from models.training.title_batches import TitleBatches

if TYPE_CHECKING:
    from jaxtyping import Int, Int64
    from torch import Tensor

BLOCK = 32  # validation queries compared with all aliases at once; more would leave the cache


class TitleRun(Run):
    """Strings and pairs on one device.

    With `frozen`, the space of an earlier model, the loss trains into it and validation queries are
    looked up there.

    Raises:
        ValueError: the loss needs such a space and there is none, or the reverse.
    """

    def __init__(
        self,
        strings: Strings,
        pairs: Pairs,
        featurizer: Featurizer,
        settings: TrainSettings,
        device: torch.device,
        frozen: FrozenSpace | None = None,
    ) -> None:
        super().__init__(strings.titles, featurizer, settings, device)
        if settings.loss.needs_targets != (frozen is not None):
            raise ValueError(
                f"loss {kind_of(settings.loss)} with{'' if frozen else 'out'} an earlier model: "
                "name one in train.compatible_with exactly if the loss trains into its space"
            )
        self.frozen = frozen if frozen is None else frozen.to(device)
        if frozen is not None:
            frozen.check(self.encoder.dim)
        self.batches = TitleBatches(
            strings,
            pairs,
            settings.batch_pairs,
            settings.seed,
            device,
            reads_dissimilar=settings.loss.reads_dissimilar,
        )
        self.index, self.order = _index(strings)
        self.gold = _gold(strings, self.index)
        self.aliases = strings.aliases[self.order].to(device)
        self.valid = strings.valid.to(device)

    @property
    def is_judged(self) -> bool:
        """Whether there are validation queries."""
        return len(self.valid) > 0

    def batch(self, step: int) -> tuple[Int[Tensor, " batch"], PairBatch]:
        """Return the strings of a step, each once, and who belongs to whom among them."""
        rows, batch = self.batches(step)
        if self.frozen is None:
            return rows, batch
        # a string is to meet the place of its partner and its own, where they have one
        one, other = batch.left, batch.right
        left, right = torch.cat([one, other, one, other]), torch.cat([other, one, one, other])
        targets = self.frozen.targets(
            rows[right], self.batches.occupations[rows[left]], self.batches.occupation_count
        )
        return rows, replace(batch, left=left, right=right, targets=targets)

    def valid_score(self) -> float:
        """Mean success@1 of the validation queries; 0 without any. Ties by expectation."""
        if self.frozen is None:
            aliases = embed_rows(self.encoder, self.strings, self.aliases)
        else:
            aliases = self.frozen.table[self.order]
        queries = embed_rows(self.encoder, self.strings, self.valid)
        hits = 0.0
        for start in range(0, len(queries), BLOCK):
            gold = self.gold[start : start + BLOCK]
            reachable = (gold >= 0).any(axis=1)
            similarities = (queries[start : start + BLOCK] @ aliases.T).cpu().numpy()
            scores = best_scores(similarities[reachable], self.index.memberships)
            hits += float(success_at_k(rank_gold(scores, gold[reachable]), 1).sum())
        return hits / max(1, len(queries))


def _index(strings: Strings) -> tuple[AliasIndex, Int[Tensor, " title"]]:
    """Index the aliases under their occupations' codes; of each title its row of `aliases`."""
    held = strings.occupations[strings.aliases].numpy()
    row, _ = np.nonzero(held >= 0)
    titles = [strings.titles[number] for number in strings.aliases.tolist()]
    index = AliasIndex.of([titles[place] for place in row], held[held >= 0].tolist())
    place = {title: number for number, title in enumerate(titles)}
    return index, torch.tensor([place[title] for title in index.titles])


def _gold(strings: Strings, index: AliasIndex) -> Int64[np.ndarray, "query gold"]:
    """Find the validation queries' occupations in the index.

    Gold that no alias holds is -1, as padding is: a query with nothing else is a miss.
    """
    codes = strings.occupations[strings.valid].numpy()
    known = np.array(index.occupations)
    place = np.searchsorted(known, codes).clip(max=len(known) - 1)
    gold: Int64[np.ndarray, "query gold"] = np.where(known[place] == codes, place, -1)
    return gold
