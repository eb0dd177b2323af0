"""The obvious implementation that ours is timed against: `nn.LSTM` and a DataLoader."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.utils.data import DataLoader, Dataset

from benchmarks.title_networks import Inputs
from models.encoders.recurrent import RecurrentSettings
from models.losses.contrastive import ContrastiveSettings
from models.training.run import TrainSettings

Batch = tuple["Tensor", "Tensor", "Tensor"]


class PaddedPairs(Dataset[Batch]):
    """Similar pairs of the file and as many drawn at random, each string padded to the longest."""

    def __init__(self, inputs: Inputs, length: int) -> None:
        self.titles, self.pairs = inputs.strings.titles, inputs.pairs.similar
        self.featurizer, self.length = inputs.featurizer, length

    def __len__(self) -> int:
        return len(self.pairs)

    def __getitem__(self, row: int) -> Batch:
        """Return ids of two strings [max_length] and 1 for a similar pair, -1 for a random one."""
        left, right = self.pairs[row].tolist()
        similar = torch.rand(()) < 0.5
        if not similar:
            right = int(torch.randint(len(self.titles), ()))
        return self.padded(left), self.padded(right), torch.where(similar, 1.0, -1.0)

    def padded(self, row: int) -> Tensor:
        """Return the character ids of a string."""
        ids = torch.from_numpy(self.featurizer([self.titles[row]]).streams[0].flat)
        return functional.pad(ids, (0, self.length - len(ids)))


class PlainLstm(nn.Module):
    """Embedding, stacked BLSTM, mean over all steps, dense layer."""

    def __init__(self, settings: RecurrentSettings, vocabulary_size: int) -> None:
        super().__init__()
        self.characters = nn.Embedding(vocabulary_size, settings.dim_character, padding_idx=0)
        self.blstm = nn.LSTM(
            settings.dim_character,
            settings.hidden,
            num_layers=settings.layers,
            bidirectional=True,
            batch_first=True,
            dropout=settings.dropout_between if settings.layers > 1 else 0.0,
        )
        self.dense = nn.Linear(2 * settings.hidden, settings.dim)

    def forward(self, ids: Tensor) -> Tensor:
        """Embed a padded batch."""
        hidden, _ = self.blstm(self.characters(ids))
        return functional.normalize(self.dense(hidden.mean(dim=1)), dim=-1)


class PlainTraining:
    """A network, its optimiser and an endless DataLoader."""

    def __init__(self, inputs: Inputs, settings: TrainSettings) -> None:
        if not isinstance(settings.loss, ContrastiveSettings):
            raise ValueError(f"{settings.loss}: this needs the margin of a contrastive loss")
        self.settings = settings
        self.pairs = PaddedPairs(inputs, settings.encoder.max_length)
        self.margin = settings.loss.margin
        self.encoder = PlainLstm(settings.encoder, inputs.featurizer.sizes[0])
        self.optimizer = torch.optim.Adam(self.encoder.parameters(), lr=self.settings.learning_rate)
        self.loader = DataLoader(self.pairs, min(self.settings.batch_pairs, len(self.pairs)), True)
        self.batches: Iterator[Batch] = (batch for _ in count() for batch in self.loader)

    def step(self) -> int:
        """Make one update; return the number of strings encoded."""
        left, right, similar = next(self.batches)
        self.encoder.train()
        self.optimizer.zero_grad()
        loss = functional.cosine_embedding_loss(
            self.encoder(left), self.encoder(right), similar, self.margin
        )
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self.encoder.parameters(), self.settings.clip_norm)
        self.optimizer.step()
        return len(left) + len(right)

    @torch.inference_mode()
    def embed(self, rows: list[int], batch: int) -> Tensor:
        """Embed strings, in batches as they come."""
        self.encoder.eval()
        padded = torch.stack([self.pairs.padded(row) for row in rows])
        return torch.cat([self.encoder(ids) for ids in torch.split(padded, batch)])
