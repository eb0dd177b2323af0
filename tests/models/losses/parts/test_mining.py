"""Hard mining against a sort of each row."""

from __future__ import annotations

import torch
from hypothesis import given
from hypothesis import strategies as st
from shapes import checked

from models.losses.parts.mining import hardest


@given(st.integers(1, 7), st.integers(1, 9), st.integers(0, 10**6))
def test_equals_a_sort_of_each_row(size: int, count: int, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    similarity = torch.rand(size, size, generator=generator) * 2 - 1
    dissimilar = torch.rand(size, size, generator=generator) < 0.5
    kept = checked(hardest)(similarity, dissimilar, count)
    for row in range(size):
        candidates = [c for c in range(size) if dissimilar[row, c]]
        closest = sorted(candidates, key=lambda c: -similarity[row, c].item())[:count]
        assert kept[row].nonzero().flatten().tolist() == sorted(closest)


def test_of_equal_similarities_as_many_as_asked() -> None:
    dissimilar = ~torch.eye(6, dtype=torch.bool)
    kept = hardest(torch.zeros(6, 6), dissimilar, 2)
    assert (kept.sum(1) == 2).all()
    assert (kept <= dissimilar).all()


def test_rows_with_fewer_keep_all_and_no_gradient() -> None:
    similarity = torch.rand(3, 3, requires_grad=True)
    dissimilar = torch.tensor([[0, 1, 1], [0, 0, 1], [0, 0, 0]]).bool()
    kept = hardest(similarity, dissimilar, 5)
    assert torch.equal(kept, dissimilar)
    assert not kept.requires_grad
