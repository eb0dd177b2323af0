"""Sums of rows and their sparse gradient against `embedding_bag`."""

from __future__ import annotations

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional

from models.encoders.shared.row_sums import RowSums

ROWS = 6


@given(st.lists(st.lists(st.integers(0, ROWS - 1), max_size=5), min_size=1, max_size=5))
def test_sums_and_gradient_are_those_of_embedding_bag(strings: list[list[int]]) -> None:
    """Repeated units, and strings without any."""
    torch.manual_seed(1)
    one = torch.randn(ROWS, 3, dtype=torch.float64, requires_grad=True)
    other = one.detach().clone().requires_grad_()
    units = torch.tensor([unit for string in strings for unit in string], dtype=torch.long)
    counts = torch.tensor([len(string) for string in strings])
    sums = RowSums.apply(one, units, counts)
    expected = functional.embedding_bag(units, other, counts.cumsum(0) - counts, mode="sum")
    torch.testing.assert_close(sums, expected)
    sums.sin().sum().backward()
    expected.sin().sum().backward()
    assert one.grad is not None and other.grad is not None
    torch.testing.assert_close(one.grad.to_dense(), other.grad)
    assert sorted(set(units.tolist())) == one.grad._indices()[0].tolist()
