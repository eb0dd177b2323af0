"""Lazy Adam against torch's Adam, and that rows without a gradient stay."""

import numpy as np
import torch

from models.encoders.ngram_bag import RowSums
from models.training.lazy_adam import LazyAdam, clip_rows, compiled_update, update_rows

EVERY = (torch.tensor([2, 0, 1, 1, 3]), torch.tensor([2, 3]))  # units, and of how many each string
SOME = (torch.tensor([1, 3]), torch.tensor([2]))


def table() -> torch.nn.Parameter:
    torch.manual_seed(1)
    return torch.nn.Parameter(torch.randn(4, 3, dtype=torch.float64))


def backward(rows: torch.nn.Parameter, units: torch.Tensor, counts: torch.Tensor) -> None:
    rows.grad = None
    RowSums.apply(rows, units, counts).square().sum().backward()


def test_where_every_row_has_a_gradient_it_is_adam() -> None:
    """Clipping is that of the whole table."""
    lazy, dense = table(), table()
    optimizers = LazyAdam([lazy], lr=0.1), torch.optim.Adam([dense], lr=0.1)
    for most in (1e9, 0.5, 1e9, 0.1):
        backward(lazy, *EVERY)
        backward(dense, *EVERY)
        dense.grad = dense.grad.to_dense()
        clip_rows([lazy], most)
        torch.nn.utils.clip_grad_norm_([dense], most)
        torch.testing.assert_close(lazy.grad.to_dense(), dense.grad)
        for optimizer in optimizers:
            optimizer.step()
    torch.testing.assert_close(lazy, dense)


def test_the_other_rows_stay() -> None:
    rows = table()
    before = rows.detach().clone()
    backward(rows, *SOME)
    LazyAdam([rows], lr=0.1).step()
    assert (rows != before).all(1).tolist() == [False, True, False, True]


def test_the_compiled_update_is_that_of_torch() -> None:
    """A GPU takes the latter."""
    torch.manual_seed(1)
    factors = [0.1, 0.001, 0.01, 1e-8]
    before, mean, rows = torch.randn(9, 5), torch.randn(9, 5), torch.tensor([7, 0, 3])
    square, gradients = torch.rand(9, 5), torch.randn(3, 5)
    ours, theirs = ([part.clone() for part in (before, mean, square)] for _ in range(2))
    arrays = [part.numpy() for part in ours]
    exact = np.array(factors, np.float32)
    compiled_update()(arrays[0], tuple(arrays[1:]), rows.numpy(), gradients.numpy(), exact)
    update_rows(theirs[0], (theirs[1], theirs[2]), rows, gradients, factors)
    torch.testing.assert_close(ours, theirs)
    assert (ours[0] != before).all(1).nonzero().flatten().tolist() == [0, 3, 7]
