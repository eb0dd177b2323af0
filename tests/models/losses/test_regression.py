"""The regression loss: by loop."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from loss_cases import pair_batch
from shapes import checked

from models.losses.regression import RegressionSettings, regression
from models.network.loss import PairBatch


def by_loop(embeddings: torch.Tensor, batch: PairBatch, similarity: str) -> list[float]:
    def predicted(i: int, j: int) -> float:
        a, b = embeddings[i].tolist(), embeddings[j].tolist()
        if similarity == "cosine":
            dot = sum(x * y for x, y in zip(a, b, strict=True))
            return (1 + dot / math.hypot(*a) / math.hypot(*b)) / 2
        return math.exp(-sum(abs(x - y) for x, y in zip(a, b, strict=True)))

    pairs = list(zip(batch.left.tolist(), batch.right.tolist(), strict=True))
    scores = [1.0] * len(pairs) if batch.scores is None else batch.scores.tolist()
    alike = [(predicted(i, j) - s) ** 2 for (i, j), s in zip(pairs, scores, strict=True)]
    negative_mask = [predicted(i, j) ** 2 for i, j in batch.dissimilar.tolist()]
    count = len(alike) + len(negative_mask)
    return [sum(alike + negative_mask) / count, sum(alike) / count, sum(negative_mask) / count]


PAIRS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=6)


@pytest.mark.thorough
@given(
    PAIRS, PAIRS, st.booleans(), st.sampled_from(["exp_manhattan", "cosine"]), st.integers(0, 10**6)
)
def test_equals_the_loop(pairs, dissimilar, scored, similarity, seed) -> None:
    draw = torch.Generator().manual_seed(seed)
    embeddings = torch.randn(6, 3, generator=draw, dtype=torch.float64)
    scores = torch.rand(len(pairs), generator=draw).tolist() if scored else None
    batch = pair_batch(pairs, torch.zeros(6, 6, dtype=torch.bool), dissimilar, scores)
    loss = checked(regression)(embeddings, batch, RegressionSettings(similarity))
    expected = by_loop(embeddings, batch, similarity) if pairs or dissimilar else [0, 0, 0]
    assert [term.item() for term in loss] == pytest.approx(expected, abs=1e-9)
    assert 0 <= loss.total.item() <= 1
