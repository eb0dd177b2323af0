"""The von Mises-Fisher loss: by hand, by integration, by loop, and in the collapse."""

from __future__ import annotations

import math

import mpmath
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from shapes import checked
from torch.nn import functional

from models.losses.von_mises_fisher import VonMisesFisherSettings, von_mises_fisher
from models.network.kinds import loss_parts
from models.network.loss import PairBatch, Targets

loss_of = checked(von_mises_fisher)


def batch_of(left: list[int], table: torch.Tensor, rows: list[int]) -> PairBatch:
    """Make a batch; `right` and both `negative_mask` are not read."""
    places = torch.tensor(left, dtype=torch.long)
    mask = torch.zeros(len(rows), len(table)).bool()
    targets = Targets(table, torch.tensor(rows, dtype=torch.long), lambda: mask)
    nothing = torch.zeros(0, 2, dtype=torch.long)
    return PairBatch(places, places, torch.zeros(1, 1).bool(), nothing, None, targets)


def nats(embedding: list[float], target: list[float], norm_penalty: float = 0.0) -> torch.Tensor:
    embeddings, table = torch.tensor([embedding]).double(), torch.tensor([target]).double()
    batch = batch_of([0], table, [0])
    return loss_of(embeddings, batch, VonMisesFisherSettings(norm_penalty)).total


def test_by_hand() -> None:
    """Take C(κ) = κ / (4π sinh κ) in 3 dimensions; û of norm 2 at 60° to u, λ1 = 0.02.

    ûᵀu = 2 · 0.5 = 1. 4π sinh(2) / 2 = 6.283185 · 3.626860 = 22.788235, the logarithm 3.126245,
    plus λ1‖û‖ = 0.04 is 3.166245. The loss is 2.166245.
    """
    table = torch.tensor([[1.0, 0.0, 0.0]]).double()
    embeddings = torch.tensor([[1.0, math.sqrt(3), 0.0]]).double()
    loss = loss_of(embeddings, batch_of([0], table, [0]), VonMisesFisherSettings(0.02))
    assert loss.similar.item() == pytest.approx(-1)
    assert loss.dissimilar.item() == pytest.approx(3.166245, abs=1e-6)
    assert loss.total.item() == pytest.approx(2.166245, abs=1e-6)


def test_at_zero_the_density_is_uniform() -> None:
    """Take û = 0: -log C is the log of the sphere's surface, 2π in 2 and 4π in 3 dimensions."""
    assert nats([0, 0], [1, 0]).item() == pytest.approx(math.log(2 * math.pi))
    assert nats([0, 0, 0], [0, 0, 1]).item() == pytest.approx(math.log(4 * math.pi))


@pytest.mark.thorough
@pytest.mark.parametrize("norm", [0.01, 1.0, 20.0, 300.0])
def test_the_density_integrates_to_one(norm: float) -> None:
    """Sum over 200 directions of the circle, each standing for 2π / 200 of it."""
    angles = torch.arange(200).double() * (2 * math.pi / 200)
    table = torch.stack([angles.cos(), angles.sin()], 1)
    embeddings = torch.tensor([[0.6 * norm, -0.8 * norm]]).double()
    densities = [
        (
            -von_mises_fisher(
                embeddings, batch_of([0], table, [row]), VonMisesFisherSettings(0)
            ).total
        )
        .exp()
        .item()
        for row in range(200)
    ]
    assert sum(densities) * 2 * math.pi / 200 == pytest.approx(1, rel=1e-9)


def random_case(seed: int, dim: int, scale: float) -> tuple[torch.Tensor, PairBatch]:
    draw = torch.Generator().manual_seed(seed)
    embeddings = torch.randn(5, dim, generator=draw, dtype=torch.float64) * scale
    table = functional.normalize(torch.randn(4, dim, generator=draw, dtype=torch.float64))
    left = torch.randint(5, (3,), generator=draw).tolist()
    return embeddings, batch_of(left, table, torch.randint(-1, 4, (3,), generator=draw).tolist())


def by_loop(embeddings: torch.Tensor, batch: PairBatch, norm_penalty: float) -> float:
    order, terms = embeddings.shape[1] / 2 - 1, []
    for place, row in zip(batch.left.tolist(), batch.targets.rows.tolist(), strict=True):
        if row >= 0:
            norm = math.hypot(*embeddings[place].tolist())
            bessel = mpmath.besseli(order, norm)
            c = mpmath.mpf(norm) ** order / ((2 * mpmath.pi) ** (order + 1) * bessel)
            product = (embeddings[place] * batch.targets.table[row]).sum().item()
            terms.append(float(-mpmath.log(c)) - product + norm_penalty * norm)
    return sum(terms) / max(1, len(terms))


@pytest.mark.thorough
@given(
    st.integers(0, 10**6),
    st.sampled_from([2, 3, 10, 100, 300]),
    st.floats(0.01, 50),
    st.floats(0, 0.9),
)
@settings(max_examples=60)
def test_equals_the_loop(seed: int, dim: int, scale: float, norm_penalty: float) -> None:
    embeddings, batch = random_case(seed, dim, scale)
    loss = von_mises_fisher(embeddings, batch, VonMisesFisherSettings(norm_penalty))
    expected = by_loop(embeddings, batch, norm_penalty)
    assert loss.total.item() == pytest.approx(expected, rel=1e-10, abs=1e-10)
    assert (loss.similar + loss.dissimilar).item() == pytest.approx(loss.total.item())


@pytest.mark.parametrize("dim", [2, 3, 512, 1024])
@pytest.mark.parametrize("norm", [1e-3, 1.0, 100.0, 1e4])
def test_gradient_equals_the_formula(dim: int, norm: float) -> None:
    """Compute (A(κ) + λ1) û/κ - u, A(κ) = I_(dim/2)(κ) / I_(dim/2 - 1)(κ), with many digits."""
    torch.manual_seed(0)
    direction, target = functional.normalize(torch.randn(2, dim).double())
    embeddings = (norm * direction)[None].float().requires_grad_()
    batch = batch_of([0], target[None].float(), [0])
    von_mises_fisher(embeddings, batch, VonMisesFisherSettings(0.02)).total.backward()
    ratio = float(mpmath.besseli(dim / 2, norm) / mpmath.besseli(dim / 2 - 1, norm))
    expected = ((ratio + 0.02) * direction - target).float()
    assert embeddings.grad is not None
    torch.testing.assert_close(embeddings.grad[0], expected, atol=1e-6, rtol=1e-5)


def test_at_zero_the_gradient_is_the_pull_alone() -> None:
    embeddings = torch.zeros(1, 3, requires_grad=True)
    batch = batch_of([0], torch.tensor([[0.0, 0.6, 0.8]]), [0])
    von_mises_fisher(embeddings, batch, VonMisesFisherSettings(0.02)).total.backward()
    assert embeddings.grad is not None
    torch.testing.assert_close(embeddings.grad, torch.tensor([[0.0, -0.6, -0.8]]))


def test_with_a_penalty_the_norm_stops_near_half_the_dimension_over_it() -> None:
    """Solve A(κ) + λ1 = 1, with A(κ) ≈ 1 - (dim - 1) / (2κ); in 3 exactly coth κ - 1/κ.

    λ1 = 0.02 gives 2 / 0.04 = 50.
    """
    losses = [nats([norm, 0, 0], [1, 0, 0], 0.02).item() for norm in (45, 49, 50, 51, 55)]
    assert min(losses) == losses[2]
    assert losses == sorted(losses[:3], reverse=True) + sorted(losses[3:])


def test_collapse() -> None:
    """Make all embeddings equal, targets on three axes: every gradient is there, and of its own.

    They are (A(κ) û/κ - u) / 3, so two of them differ by (u - v) / 3 of their two targets, which do
    not move: a collapsed network is pulled apart.
    """
    table = torch.eye(4, dtype=torch.float64)[:3]
    embeddings = torch.tensor([[1.0, 2.0, 1.5, 3.0]] * 3, dtype=torch.float64, requires_grad=True)
    batch = batch_of([0, 1, 2], table, [0, 1, 2])
    von_mises_fisher(embeddings, batch, VonMisesFisherSettings(0)).total.backward()
    gradient = embeddings.grad
    assert gradient is not None
    torch.testing.assert_close(gradient[0] - gradient[1], (table[1] - table[0]) / 3)
    after, before = (functional.normalize(e) for e in (embeddings - 0.1 * gradient, embeddings))
    assert ((after * table).sum(1) > (before * table).sum(1)).all()


def test_settings() -> None:
    assert loss_parts("von_mises_fisher") == (VonMisesFisherSettings, von_mises_fisher)
    assert VonMisesFisherSettings.needs_targets
    assert not VonMisesFisherSettings(0.0).reads_dissimilar
    for value in (-0.1, 1.0):
        with pytest.raises(ValueError, match=rf"norm_penalty = {value}: 0 or more"):
            VonMisesFisherSettings(value)


def test_what_cannot_work_is_refused() -> None:
    places = torch.zeros(1, dtype=torch.long)
    batch = PairBatch(places, places, torch.zeros(1, 1).bool(), torch.zeros(0, 2).long())
    with pytest.raises(ValueError, match="von_mises_fisher needs `targets`"):
        von_mises_fisher(torch.ones(1, 2), batch, VonMisesFisherSettings(0.0))
    with pytest.raises(ValueError, match=r"order = -0.5"):
        nats([1.0], [1.0])
