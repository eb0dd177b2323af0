"""Similarities of two embeddings: by hand, at their ends, and every pair of a batch."""

from __future__ import annotations

import math

import torch
from shapes import checked

from models.network.loss import cosine, exp_manhattan


def test_cosine_by_hand() -> None:
    """Expect (3, 4)·(4, 3) = 24 over 5 · 5: 0.96; (3, 4)·(-6, -8) = -50 over 5 · 10: -1."""
    left = torch.tensor([[3.0, 4.0], [3.0, 4.0], [3.0, 4.0]])
    right = torch.tensor([[4.0, 3.0], [-6.0, -8.0], [0.0, 0.0]])
    torch.testing.assert_close(checked(cosine)(left, right), torch.tensor([0.96, -1.0, 0.0]))


def test_exp_manhattan_by_hand() -> None:
    """Take differences (0, 0), (ln 2, 0), (ln 2, -ln 2): exp(-0) = 1, exp(-ln 2) = ½, ½ · ½ = ¼."""
    log2 = math.log(2)
    left = torch.tensor([[1.0, 2.0], [log2, 0.0], [log2, 0.0]])
    right = torch.tensor([[1.0, 2.0], [0.0, 0.0], [0.0, log2]])
    torch.testing.assert_close(checked(exp_manhattan)(left, right), torch.tensor([1.0, 0.5, 0.25]))


def test_gradient_of_exp_manhattan_beside_and_at_equality() -> None:
    """Expect -g·sign(a - b): about ∓1 where a is just beside b, and 0 where a = b."""
    right = torch.zeros(2)
    for left, expected in (([1e-6, -1e-6], [-1.0, 1.0]), ([0.0, 0.0], [0.0, 0.0])):
        point = torch.tensor(left, requires_grad=True)
        exp_manhattan(point, right).backward()
        torch.testing.assert_close(point.grad, torch.tensor(expected), rtol=1e-5, atol=0)
