"""A run on the titles of a taxonomy: batches of pairs (`batches.py`), judged by success@1.

Held-out validation titles are looked up in the alias index.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch.func import functional_call

from models.metrics.retrieval import pad_gold, rank_gold, success_at_k
from models.network.embedding import FeaturizedStrings, embed_rows, embed_titles
from models.network.kinds import kind_of, load_model
from models.network.loss import PairBatch, Targets, unit
from models.serving.index import AliasIndex
from models.serving.scores import best_scores
from models.text.featurizer import Featurizer
from models.training.batches import Pairs, Strings, TitleBatches
from models.training.loop import Run, TrainSettings

if TYPE_CHECKING:
    from jaxtyping import Bool, Float, Int, Int64
    from torch import Tensor

BLOCK = 32  # validation queries compared with all aliases at once; more would leave the cache


@dataclass(frozen=True)
class FrozenSpace:
    """The space of a reference model: its embeddings of the aliases, which a new model is to hit.

    The table is frozen (Bhat et al. 2019, section 2), so that no loss can make everything collapse.
    """

    table: Float[Tensor, "target dim"]  # unit norm, in the order of the aliases
    row_of: Int[Tensor, " string"]  # the target of each string, -1 for a string that is no alias
    occupations: Int[Tensor, "target most"]  # codes of each target, padded with -1

    @classmethod
    def of_aliases(cls, earlier: Path, strings: Strings) -> FrozenSpace:
        """Embed the aliases by the model in the folder `earlier`."""
        featurizer, encoder = load_model(earlier)
        titles = [strings.titles[row] for row in strings.aliases.tolist()]
        row_of = torch.full((len(strings.titles),), -1)
        row_of[strings.aliases] = torch.arange(len(titles))
        table = embed_titles(encoder, featurizer, titles)
        return cls(table, row_of, strings.occupations[strings.aliases])

    def to(self, device: torch.device) -> FrozenSpace:
        """Return the same on `device`."""
        return FrozenSpace(*(part.to(device) for part in vars(self).values()))

    def targets(
        self, others: Int[Tensor, " pair"], codes: Int[Tensor, "pair most"], count: int
    ) -> Targets:
        """Return the targets of the left strings of some pairs, with their negatives.

        `others`: string ids of the right ones; `codes`: occupations of the left ones, of `count`.
        """

        def negative_mask() -> Bool[Tensor, "pair target"]:
            has = torch.zeros(count + 1, len(codes), dtype=torch.bool, device=codes.device)
            pairs = torch.arange(len(codes), device=codes.device)[:, None]
            has[torch.where(codes < 0, count, codes), pairs] = True
            has[count] = False
            shared = torch.zeros(len(self.table), len(codes), dtype=torch.bool, device=codes.device)
            for column in self.occupations.unbind(1):
                shared |= has[column]  # -1 reads the last row, which is empty
            known = (codes >= 0).any(1)
            return ~shared.T & known[:, None]

        return Targets(self.table, self.row_of[others], negative_mask)


class TitleRun(Run):
    """Strings and pairs on one device.

    With `frozen`, the space of a reference model, the loss trains into it and validation queries
    are looked up there; ValueError if that does not fit. `units`: of the titles, if featurized
    before. `before`: the weights of a network to start from, near which strings can be held.
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
        units = units or FeaturizedStrings(strings.titles, featurizer, device)
        super().__init__(units, featurizer, settings, device, before)
        if settings.loss.needs_targets != (frozen is not None):
            raise ValueError(
                f"loss {kind_of(settings.loss)} with{'' if frozen else 'out'} a reference model: "
                "name one in train.compatible_with exactly if the loss trains into its space"
            )
        own = self.encoder.dim
        if frozen is not None and (space := frozen.table.shape[1]) != own:
            dims = f"{space} dimensions, this encoder's {own}; set its dimension to {space}"
            raise ValueError(f"the reference model's embeddings have {dims}")
        self.frozen = None if frozen is None else frozen.to(device)
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
        """Whether there are validation queries, which show nothing of people's verdicts."""
        return len(self.valid) > 0 and self.settings.judged_share is None

    def batch(self, step: int) -> tuple[Int[Tensor, " batch"], PairBatch]:
        """Return the strings of a step, each once, and who belongs to whom among them."""
        rows, batch = self.batches(step)
        if self.frozen is None:
            return rows, batch
        # a string is to meet the target of its partner and its own, where they have one
        one, other = batch.left, batch.right
        left, right = torch.cat([one, other, one, other]), torch.cat([other, one, one, other])
        codes, count = self.batches.occupations[rows[left]], self.titles.occupation_count
        targets = self.frozen.targets(rows[right], codes, count)
        return rows, replace(batch, left=left, right=right, targets=targets)

    def valid_score(self) -> float:
        """Mean success@1 of validation queries, ties by expectation; 0 without, NaN if unjudged."""
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
        """The index of the aliases, their rows in its order, and the queries' gold."""
        strings = self.titles
        held = strings.occupations[strings.aliases].numpy()
        titles = [strings.titles[number] for number in strings.aliases.tolist()]
        owned = [titles[number] for number in np.nonzero(held >= 0)[0]]
        index = AliasIndex.of(owned, held[held >= 0].tolist())
        row_of = {title: number for number, title in enumerate(titles)}
        order = torch.tensor([row_of[title] for title in index.titles])
        # gold that no alias holds is left out: a query with nothing else is a miss
        gold = pad_gold(index.gold_positions(strings.occupations[strings.valid].tolist()))
        return index, order, gold
