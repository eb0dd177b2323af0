"""A run on titles that also learns from a teacher, and the choice between runs.

Whole words begin at the teacher's vectors of them, and a step adds the cross-entropy between the
teacher's ranks of some aliases and the network's (`models/training/distilled_ranks.py`).
"""

from __future__ import annotations

import torch

from models.network.loss import Loss
from models.reproducibility.seeding import child_seed
from models.text.featurizer import Featurizer
from models.training.batches import Pairs
from models.training.distilled_ranks import DistilledRanks, rank_loss
from models.training.frozen_space import FrozenSpace
from models.training.run import TrainSettings
from models.training.strings import Strings
from models.training.teacher import Teacher, TeacherSettings, Vectors, principal
from models.training.title_run import TitleRun


def title_run(
    strings: Strings,
    pairs: Pairs,
    featurizer: Featurizer,
    settings: TrainSettings,
    device: torch.device,
    frozen: FrozenSpace | None = None,
    teacher: Teacher | None = None,
) -> TitleRun:
    """Return the run that `settings` ask for, with a teacher or without.

    Raises:
        ValueError: they say how to learn from one and there is none, or the reverse.
    """
    if (settings.teacher is None) != (teacher is None):
        raise ValueError(
            f"settings with{'out' if settings.teacher is None else ''} a teacher, and "
            f"{'no' if teacher is None else 'a'} folder of one: name both or neither"
        )
    if settings.teacher is None or teacher is None:
        return TitleRun(strings, pairs, featurizer, settings, device, frozen)
    return DistillationRun(
        strings, pairs, featurizer, settings, device, teacher, settings.teacher, frozen
    )


class DistillationRun(TitleRun):
    """A `TitleRun` that begins at the teacher's words and learns its ranks as `taught` says.

    Raises:
        ValueError: as `TitleRun`; or the encoder has no vectors of whole words, or the teacher
            knows other titles.
    """

    def __init__(
        self,
        strings: Strings,
        pairs: Pairs,
        featurizer: Featurizer,
        settings: TrainSettings,
        device: torch.device,
        teacher: Teacher,
        taught: TeacherSettings,
        frozen: FrozenSpace | None = None,
    ) -> None:
        super().__init__(strings, pairs, featurizer, settings, device, frozen)
        self.taught = taught
        self._begin_at(teacher.words, featurizer)
        self.ranks = None
        if taught.weight:
            self.ranks = DistilledRanks.of(teacher, strings).to(device)

    def objective(self, step: int) -> Loss:
        """Return the loss of a step's strings, and in its total the teacher's term besides."""
        if self.ranks is None:
            return super().objective(step)
        rows, batch = self.batch(step)
        seed = child_seed(self.settings.seed, "teacher", str(step))
        titles, aliases = self.ranks.draw(self.taught.strings, torch.Generator().manual_seed(seed))
        taught = self.ranks.rows[torch.cat([titles, aliases])]
        # all at once: the gradient of a table is as large as the table, each time it is asked for
        embedded = self.embed(torch.cat([rows, taught]))
        own, strings, candidates = torch.split(embedded, [len(rows), len(titles), len(aliases)])
        loss = self.loss(own, batch, self.settings.loss)
        ranks = rank_loss(
            strings,
            candidates,
            self.ranks.vectors[titles].float(),
            self.ranks.vectors[aliases].float(),
            self.taught,
        )
        return loss._replace(total=loss.total + self.taught.weight * ranks)

    def _begin_at(self, words: Vectors, featurizer: Featurizer) -> None:
        """Let the vectors of those words that the vocabulary holds begin at the teacher's."""
        own = self.settings.encoder
        units = [self.encoder.unit_of_word(own, word) for word in words.texts]
        (vocabulary,) = featurizer.vocabularies
        place = {text: number for number, text in enumerate(vocabulary.known)}
        known = [row for row, text in enumerate(units) if text in place]
        vectors = self.taught.scale * principal(words.table, self.encoder.dim)[known]
        places = torch.tensor([place[units[row]] for row in known], dtype=torch.long)
        self.encoder.start_at(places.to(self.device), vectors.to(self.device), self.taught.spread)
