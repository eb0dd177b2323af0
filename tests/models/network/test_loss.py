"""Similarities by hand and draws, which all losses use."""

import math

import torch
from shapes import checked

from models.network.loss import cosine, drawn, exp_manhattan


def test_cosine_by_hand() -> None:
    """Expect (3, 4)·(4, 3) = 24 over 5 · 5: 0.96; (3, 4)·(-6, -8) = -50 over 5 · 10: -1."""
    left = torch.tensor([[3.0, 4.0], [3.0, 4.0], [3.0, 4.0]])
    right = torch.tensor([[4.0, 3.0], [-6.0, -8.0], [0.0, 0.0]])
    torch.testing.assert_close(checked(cosine)(left, right), torch.tensor([0.96, -1.0, 0.0]))


def test_exp_manhattan_by_hand() -> None:
    """Take differences (0, 0), (ln 2, 0), (ln 2, -ln 2): exp(-0) = 1, exp(-ln 2) = ½, ½ · ½ = ¼.

    The gradient is -g·sign(a - b): about ∓1 where a is just beside b, and 0 where a = b.
    """
    log2 = math.log(2)
    left = torch.tensor([[1.0, 2.0], [log2, 0.0], [log2, 0.0]])
    right = torch.tensor([[1.0, 2.0], [0.0, 0.0], [0.0, log2]])
    torch.testing.assert_close(checked(exp_manhattan)(left, right), torch.tensor([1.0, 0.5, 0.25]))
    for beside, expected in (([1e-6, -1e-6], [-1.0, 1.0]), ([0.0, 0.0], [0.0, 0.0])):
        point = torch.tensor(beside, requires_grad=True)
        exp_manhattan(point, torch.zeros(2)).backward()
        torch.testing.assert_close(point.grad, torch.tensor(expected), rtol=1e-5, atol=0)


def test_draws_are_uniform_over_the_allowed() -> None:
    """Allow three of five: each a third of 9,000 draws, 5 standard deviations are 0.025."""
    torch.manual_seed(0)
    allowed = torch.tensor([[True, False, True, False, True], [False, False, False, True, False]])
    draws = checked(drawn)(allowed, 9000)
    assert draws[1].unique().tolist() == [3]
    seen, counts = draws[0].unique(return_counts=True)
    assert seen.tolist() == [0, 2, 4]
    assert ((counts / 9000 - 1 / 3).abs() < 0.025).all()
