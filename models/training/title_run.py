"""A run on the titles of a taxonomy: batches of pairs (`batches.py`), judged by success@1.

Held-out validation titles are looked up in the alias index.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch.func import functional_call

from models.metrics.gold_ranks import pad_gold, rank_gold, success_at_k
from models.network.embedding import embed_rows
from models.network.featurized_strings import FeaturizedStrings
from models.network.kinds import kind_of
from models.network.loss import PairBatch, unit
from models.search.index import AliasIndex
from models.search.occupation_scores import best_scores
from models.text.featurizer import Featurizer
from models.training.batches import Pairs, TitleBatches
from models.training.frozen_space import FrozenSpace
from models.training.run import Run, TrainSettings
from models.training.strings import Strings

if TYPE_CHECKING:
    from jaxtyping import Float, Int, Int64
    from torch import Tensor

BLOCK = 32  # validation queries compared with all aliases at once; more would leave the cache


class TitleRun(Run):
    """Strings and pairs on one device.

    With `frozen`, the space of a reference model, the loss trains into it and validation queries
    are looked up there. `units`: of the titles, if they have been featurized before. `before`: the
    weights of a network to start from, near which strings can be held.

    Raises:
        ValueError: the loss needs such a space and there is none, or its dimension is another.
    """

    def __init__(
        self,
        strings: Strings,
        pairs: Pairs,
        featurizer: Featurizer,
        settings: TrainSettings,
        device: torch.device,
        frozen: FrozenSpace | None = None,
        units: FeaturizedStrings | None = None,
        before: dict[str, Tensor] | None = None,
    ) -> None:
        units = units or FeaturizedStrings.of(strings.titles, featurizer, device)
        super().__init__(units, featurizer, settings, device, before)
        if settings.loss.needs_targets != (frozen is not None):
            raise ValueError(
                f"loss {kind_of(settings.loss)} with{'' if frozen else 'out'} a reference model: "
                "name one in train.compatible_with exactly if the loss trains into its space"
            )
        self.frozen = None if frozen is None else frozen.to(device)
        if frozen is not None:
            frozen.check(self.encoder.dim)
        self.batches = TitleBatches(
            strings,
            pairs,
            settings.batch_pairs,
            settings.seed,
            device,
            reads_dissimilar=settings.loss.reads_dissimilar,
            judged_share=settings.judged_share,
        )
        self.titles, self.valid = strings, strings.valid.to(device)
        judged = pairs.similar[pairs.judged] if pairs.judged.any() else pairs.similar[:0]
        self.judged = torch.unique(judged[:, 1]).to(device)
        self.before = before and {name: value.to(device) for name, value in before.items()}

    def drift(self, rows: Int[Tensor, " batch"], embeddings: Float[Tensor, "batch dim"]) -> Tensor:
        """Return the mean squared distance, at unit norm, of the strings that nobody judged."""
        if self.before is None:
            return super().drift(rows, embeddings)
        held = torch.isin(rows, self.judged, invert=True)
        self.encoder.eval()
        with torch.no_grad():
            units = self.strings.batch(rows[held])
            there = unit(functional_call(self.encoder, self.before, units))
        self.encoder.train()
        return (unit(embeddings[held]) - there).square().sum() / max(1, len(there))

    @property
    def is_judged(self) -> bool:
        """Whether there are validation queries that show what is learned.

        They are titles of the taxonomy, and show nothing of people's verdicts on inputs.
        """
        return len(self.valid) > 0 and self.settings.judged_share is None

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
        """Mean success@1 of the validation queries; 0 without any. Ties by expectation.

        NaN if they show nothing.
        """
        if not self.is_judged:
            return float("nan") if len(self.valid) else 0.0
        index, order, golds = self._exam
        if self.frozen is None:
            aliases = embed_rows(self.encoder, self.strings, self.titles.aliases[order])
        else:
            aliases = self.frozen.table[order]
        queries = embed_rows(self.encoder, self.strings, self.valid)
        hits = 0.0
        for start in range(0, len(queries), BLOCK):
            gold = golds[start : start + BLOCK]
            reachable = (gold >= 0).any(axis=1)
            similarities = (queries[start : start + BLOCK] @ aliases.T).cpu().numpy()
            scores = best_scores(similarities[reachable], index.memberships)
            hits += float(success_at_k(rank_gold(scores, gold[reachable]), 1).sum())
        return hits / max(1, len(queries))

    @cached_property
    def _exam(self) -> tuple[AliasIndex, Int[Tensor, " title"], Int64[np.ndarray, "query most"]]:
        """The index of the aliases, the place of its titles among these, and the queries' gold."""
        strings = self.titles
        held = strings.occupations[strings.aliases].numpy()
        titles = [strings.titles[number] for number in strings.aliases.tolist()]
        row = np.nonzero(held >= 0)[0]
        index = AliasIndex.of([titles[number] for number in row], held[held >= 0].tolist())
        place = {title: number for number, title in enumerate(titles)}
        order = torch.tensor([place[title] for title in index.titles])
        # gold that no alias holds is left out: a query with nothing else is a miss
        gold = pad_gold(index.codes(strings.occupations[strings.valid].tolist()))
        return index, order, gold
