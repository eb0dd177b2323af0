"""Lazy Adam against torch's Adam, and that rows without a gradient stay."""

from __future__ import annotations

from copy import deepcopy

import torch

from models.encoders.shared.row_sums import RowSums
from models.training.lazy_adam import LazyAdam, clip_rows

EVERY = (torch.tensor([2, 0, 1, 1, 3]), torch.tensor([2, 3]))  # units, and of how many each string
SOME = (torch.tensor([1, 3]), torch.tensor([2]))


def table() -> torch.nn.Parameter:
    torch.manual_seed(1)
    return torch.nn.Parameter(torch.randn(4, 3, dtype=torch.float64))


def backward(rows: torch.nn.Parameter, units: torch.Tensor, counts: torch.Tensor) -> None:
    rows.grad = None
    RowSums.apply(rows, units, counts).square().sum().backward()


def test_where_every_row_has_a_gradient_it_is_adam() -> None:
    lazy, dense = table(), table()
    optimizers = LazyAdam([lazy], lr=0.1), torch.optim.Adam([dense], lr=0.1)
    for _ in range(5):
        backward(lazy, *EVERY)
        backward(dense, *EVERY)
        dense.grad = dense.grad.to_dense()
        for optimizer in optimizers:
            optimizer.step()
    torch.testing.assert_close(lazy, dense)


def test_the_other_rows_stay() -> None:
    rows = table()
    before = rows.detach().clone()
    optimizer = LazyAdam([rows], lr=0.1)
    backward(rows, *SOME)
    optimizer.step()
    changed = (rows != before).all(1)
    assert changed.tolist() == [False, True, False, True]


def test_clipping_is_that_of_the_whole_table() -> None:
    sparse, dense = table(), table()
    backward(sparse, *EVERY)
    backward(dense, *EVERY)
    dense.grad = dense.grad.to_dense()
    for most in (1e9, 0.5):
        clip_rows([sparse], most)
        torch.nn.utils.clip_grad_norm_([dense], most)
        torch.testing.assert_close(sparse.grad.to_dense(), dense.grad)


def test_another_one_goes_on_from_its_state() -> None:
    rows, again = table(), table()
    first, second = LazyAdam([rows], lr=0.1), LazyAdam([again], lr=0.1)
    backward(rows, *SOME)
    first.step()
    again.data.copy_(rows.data)
    second.load_state_dict(deepcopy(first.state_dict()))
    for one, optimizer in ((rows, first), (again, second)):
        backward(one, *EVERY)
        optimizer.step()
    assert torch.equal(rows, again)
