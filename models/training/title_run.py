"""A run on the titles of a taxonomy: batches of pairs (`batches.py`), judged by success@1.

Held-out validation titles are looked up in the alias index. With a teacher, whole words begin at
its vectors of them, and a step adds the cross-entropy between the teacher's ranks of some aliases
and the network's (`distilled_ranks.py`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import torch

from models.metrics.gold_ranks import pad_gold, rank_gold, success_at_k
from models.network.embedding import embed_rows
from models.network.kinds import kind_of
from models.network.loss import Loss, PairBatch
from models.reproducibility.seeding import child_seed
from models.search.index import AliasIndex
from models.search.occupation_scores import best_scores
from models.text.featurizer import Featurizer
from models.training.batches import Pairs, TitleBatches
from models.training.distilled_ranks import DistilledRanks, rank_loss
from models.training.frozen_space import FrozenSpace
from models.training.run import Run, TrainSettings
from models.training.strings import Strings
from models.training.teacher import Teacher, TeacherSettings, Vectors, principal

if TYPE_CHECKING:
    from jaxtyping import Int
    from torch import Tensor

BLOCK = 32  # validation queries compared with all aliases at once; more would leave the cache


class TitleRun(Run):
    """Strings and pairs on one device.

    With `frozen`, the space of a reference model, the loss trains into it and validation queries
    are looked up there. With `teacher`, the run learns from it as `settings.teacher` says.

    Raises:
        ValueError: the loss needs such a space and there is none, or its dimension is another;
            `settings` speak of a teacher and there is none, or the reverse; or the encoder has no
            vectors of whole words, or the teacher knows other titles.
    """

    def __init__(
        self,
        strings: Strings,
        pairs: Pairs,
        featurizer: Featurizer,
        settings: TrainSettings,
        device: torch.device,
        frozen: FrozenSpace | None = None,
        teacher: Teacher | None = None,
    ) -> None:
        taught = settings.teacher
        if (taught is None) != (teacher is None):
            raise ValueError(
                f"settings with{'out' if taught is None else ''} a teacher, and "
                f"{'no' if teacher is None else 'a'} folder of one: name both or neither"
            )
        super().__init__(strings.titles, featurizer, settings, device)
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
        )
        held = strings.occupations[strings.aliases].numpy()
        titles = [strings.titles[number] for number in strings.aliases.tolist()]
        row = np.nonzero(held >= 0)[0]
        self.index = AliasIndex.of([titles[number] for number in row], held[held >= 0].tolist())
        place = {title: number for number, title in enumerate(titles)}
        self.order = torch.tensor([place[title] for title in self.index.titles])
        # gold that no alias holds is left out: a query with nothing else is a miss
        self.gold = pad_gold(self.index.codes(strings.occupations[strings.valid].tolist()))
        self.aliases = strings.aliases[self.order].to(device)
        self.valid = strings.valid.to(device)
        self.ranks = None
        if taught is not None and teacher is not None:
            self._begin_at(teacher.words, featurizer, taught)
            if taught.weight:
                self.ranks = DistilledRanks.of(teacher, strings).to(device)

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

    def objective(self, step: int) -> Loss:
        """Return the loss of a step's strings, and in its total the teacher's term besides."""
        taught = self.settings.teacher
        if taught is None or self.ranks is None:
            return super().objective(step)
        rows, batch = self.batch(step)
        seed = child_seed(self.settings.seed, "teacher", str(step))
        titles, aliases = self.ranks.draw(taught.strings, torch.Generator().manual_seed(seed))
        rows_taught = self.ranks.rows[torch.cat([titles, aliases])]
        # all at once: the gradient of a table is as large as the table, each time it is asked for
        embedded = self.embed(torch.cat([rows, rows_taught]))
        own, strings, candidates = torch.split(embedded, [len(rows), len(titles), len(aliases)])
        loss = self.loss(own, batch, self.settings.loss)
        vectors = self.ranks.vectors
        ranks = rank_loss(
            strings, candidates, vectors[titles].float(), vectors[aliases].float(), taught
        )
        return loss._replace(total=loss.total + taught.weight * ranks)

    def _begin_at(self, words: Vectors, featurizer: Featurizer, taught: TeacherSettings) -> None:
        """Let the vectors of those words that the vocabulary holds begin at the teacher's."""
        settings = self.settings.encoder
        units = [self.encoder.unit_of_word(settings, word) for word in words.texts]
        (vocabulary,) = featurizer.vocabularies
        place = {text: number for number, text in enumerate(vocabulary.known)}
        rows = [row for row, text in enumerate(units) if text in place]
        vectors = taught.scale * principal(words.table, self.encoder.dim)[rows]
        places = torch.tensor([place[units[row]] for row in rows], dtype=torch.long)
        self.encoder.start_at(places.to(self.device), vectors.to(self.device), taught.spread)

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
