"""The choice of negatives against loops over the rows, and the shares of the random one."""

from __future__ import annotations

import math

import torch
from hypothesis import given
from hypothesis import strategies as st
from shapes import checked

from models.losses.shared.negatives import drawn, hardest, highest, most_informative, semihard


def case(rows: int, candidates: int, seed: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Draw scores, the column of each positive, and a mask that allows some other columns."""
    draw = torch.Generator().manual_seed(seed)
    scores = torch.rand(rows, candidates, generator=draw) * 2 - 1
    positive = torch.randint(candidates, (rows,), generator=draw)
    allowed = torch.rand(rows, candidates, generator=draw) < 0.5
    allowed[torch.arange(rows), (positive + 1) % candidates] = True
    allowed[torch.arange(rows), positive] = False
    return scores, positive, allowed


CASES = st.tuples(st.integers(1, 6), st.integers(2, 8), st.integers(0, 10**6))


@given(CASES)
def test_equal_the_loop(sizes: tuple[int, int, int]) -> None:
    scores, positive, allowed = case(*sizes)
    closest, half = checked(highest)(scores, allowed), checked(semihard)(scores, positive, allowed)
    for row in range(len(scores)):
        score = scores[row].tolist()
        open_ = [c for c in range(len(score)) if allowed[row, c]]
        assert closest[row] == max(open_, key=lambda c: score[c])
        below = [c for c in open_ if score[c] < score[positive[row]]]
        if below:
            assert half[row] == max(below, key=lambda c: score[c])
        else:
            assert half[row] == min(open_, key=lambda c: score[c])


@given(CASES, st.floats(0.05, 1))
def test_semihard_is_within_the_margin_where_any_is(
    sizes: tuple[int, int, int], margin: float
) -> None:
    """Show that FaceNet's window of the margin needs no rule of its own."""
    scores, positive, allowed = case(*sizes)
    near = scores.gather(1, positive[:, None])
    window = allowed & (scores < near) & (scores > near - margin)
    chosen = semihard(scores, positive, allowed)
    within = window.gather(1, chosen[:, None])[:, 0]
    assert torch.equal(within, window.any(1))


def test_most_informative_by_hand() -> None:
    """Take û at 90°, u at 0°: û - u points to 135°.

    Of the candidates at 80°, 140° and 200°, 140° is closest to that, though 80° is closest to û.
    """
    angles = torch.tensor([90.0, 0.0, 80.0, 140.0, 200.0]) * math.pi / 180
    points = torch.stack([angles.cos(), angles.sin()], 1)
    allowed = torch.tensor([[True, True, True]])
    choose = checked(most_informative)
    assert choose(points[:1], points[1:2], points[2:], allowed).tolist() == [1]
    allowed[0, 1] = False  # 55° against 65° away
    assert choose(points[:1], points[1:2], points[2:], allowed).tolist() == [0]
    assert choose(points[:1], points[:1], points[2:], allowed)[0] != 1  # û = u: any that is allowed


def test_draws_are_uniform_over_the_allowed() -> None:
    """Allow three of five: each a third of 9,000 draws, 5 standard deviations are 0.025."""
    torch.manual_seed(0)
    allowed = torch.tensor([[True, False, True, False, True], [False, False, False, True, False]])
    draws = checked(drawn)(allowed, 9000)
    assert draws[1].unique().tolist() == [3]
    seen, counts = draws[0].unique(return_counts=True)
    assert seen.tolist() == [0, 2, 4]
    assert ((counts / 9000 - 1 / 3).abs() < 0.025).all()


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
