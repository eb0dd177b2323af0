"""Batches and points for the tests of the in-batch losses."""

from __future__ import annotations

import math

import torch

from models.network.loss import PairBatch

NONE = torch.empty(0, 2, dtype=torch.long)


def batch_of(pairs: list[tuple[int, int]], apart: torch.Tensor) -> PairBatch:
    """Places of the two strings of each pair; nothing was read as dissimilar."""
    left, right = torch.tensor(pairs, dtype=torch.long).reshape(-1, 2).T
    return PairBatch(left, right, apart, NONE)


def random_batch(seed: int, size: int, pairs: int) -> tuple[torch.Tensor, PairBatch]:
    """Any pairs, repeated, both ways round, also among the strings that are apart."""
    draw = torch.Generator().manual_seed(seed)
    apart = torch.rand(size, size, generator=draw).triu(1) > 0.6
    left = torch.randint(size, (pairs,), generator=draw)
    right = (left + torch.randint(1, size, (pairs,), generator=draw)) % size
    embeddings = torch.randn(size, 3, generator=draw, dtype=torch.float64)
    return embeddings, PairBatch(left, right, apart | apart.T, NONE)


def circle(*degrees: float) -> torch.Tensor:
    """Points on the unit circle: their cosine similarity is the cosine of the angle between."""
    angles = torch.tensor(degrees, dtype=torch.float64) * math.pi / 180
    return torch.stack([angles.cos(), angles.sin()], 1)
