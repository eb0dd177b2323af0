"""The von Mises-Fisher loss: by hand, by integration, by loop; its Bessel function by mpmath."""

import math

import mpmath
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from loss_cases import target_batch
from shapes import checked
from torch.nn import functional

from models.losses.von_mises_fisher import (
    VonMisesFisherSettings,
    log_bessel_i_over_power,
    von_mises_fisher,
)
from models.network.loss import PairBatch

loss_of = checked(von_mises_fisher)
# of 2 to 1024 dimensions: dim / 2 - 1 is a whole or a half
ORDERS = [0.0, 0.5, 1.0, 3.5, 14.0, 31.0, 31.5, 32.0, 63.0, 149.0, 255.0, 511.0]
POINTS = [1e-3, 0.1, 1.0, 7.0, 30.0, 100.0, 700.0, 1e4]


def test_by_hand() -> None:
    """Take C(κ) = κ / (4π sinh κ) in 3 dimensions; û of norm 2 at 60° to u, λ1 = 0.02.

    ûᵀu = 2 · 0.5 = 1. 4π sinh(2) / 2 = 6.283185 · 3.626860 = 22.788235, the logarithm 3.126245,
    plus λ1‖û‖ = 0.04 is 3.166245. The loss is 2.166245.
    """
    table = torch.tensor([[1.0, 0.0, 0.0]]).double()
    embeddings = torch.tensor([[1.0, math.sqrt(3), 0.0]]).double()
    loss = loss_of(embeddings, target_batch([0], table, [0]), VonMisesFisherSettings(0.02))
    terms = [term.item() for term in loss]
    assert terms == pytest.approx([2.166245, -1, 3.166245], abs=1e-6)


def test_at_zero_the_density_is_uniform() -> None:
    """Take û = 0: -log C is the log of the sphere's surface, 2π in 2 and 4π in 3 dimensions."""
    for dim, surface in ((2, 2 * math.pi), (3, 4 * math.pi)):
        batch = target_batch([0], torch.eye(dim, dtype=torch.float64)[:1], [0])
        loss = loss_of(torch.zeros(1, dim).double(), batch, VonMisesFisherSettings(0.0))
        assert loss.total.item() == pytest.approx(math.log(surface))


def random_case(seed: int, dim: int, scale: float) -> tuple[torch.Tensor, PairBatch]:
    draw = torch.Generator().manual_seed(seed)
    embeddings = torch.randn(5, dim, generator=draw, dtype=torch.float64) * scale
    table = functional.normalize(torch.randn(4, dim, generator=draw, dtype=torch.float64))
    left = torch.randint(5, (3,), generator=draw).tolist()
    rows = torch.randint(-1, 4, (3,), generator=draw).tolist()
    return embeddings, target_batch(left, table, rows)


def by_loop(embeddings: torch.Tensor, batch: PairBatch, norm_penalty: float) -> float:
    order, terms = embeddings.shape[1] / 2 - 1, []
    for left, row in zip(batch.left.tolist(), batch.targets.rows.tolist(), strict=True):
        if row >= 0:
            norm = math.hypot(*embeddings[left].tolist())
            bessel = mpmath.besseli(order, norm)
            c = mpmath.mpf(norm) ** order / ((2 * mpmath.pi) ** (order + 1) * bessel)
            product = (embeddings[left] * batch.targets.table[row]).sum().item()
            terms.append(float(-mpmath.log(c)) - product + norm_penalty * norm)
    return sum(terms) / max(1, len(terms))


@pytest.mark.thorough
@given(
    seed=st.integers(0, 10**6),
    dim=st.sampled_from([2, 3, 10, 100, 300]),
    scale=st.floats(0.01, 50),
    norm_penalty=st.floats(0, 0.9),
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
    batch = target_batch([0], target[None].float(), [0])
    von_mises_fisher(embeddings, batch, VonMisesFisherSettings(0.02)).total.backward()
    ratio = float(mpmath.besseli(dim / 2, norm) / mpmath.besseli(dim / 2 - 1, norm))
    expected = ((ratio + 0.02) * direction - target).float()
    torch.testing.assert_close(embeddings.grad[0], expected, atol=1e-6, rtol=1e-5)


def test_at_zero_the_gradient_is_the_pull_alone() -> None:
    embeddings = torch.zeros(1, 3, requires_grad=True)
    batch = target_batch([0], torch.tensor([[0.0, 0.6, 0.8]]), [0])
    von_mises_fisher(embeddings, batch, VonMisesFisherSettings(0.02)).total.backward()
    torch.testing.assert_close(embeddings.grad, torch.tensor([[0.0, -0.6, -0.8]]))


def with_slope(order: float, points: list[float]) -> tuple[np.ndarray, np.ndarray]:
    """Return log(I_v(x) / x^v) and its gradient."""
    x = torch.tensor(points, dtype=torch.float64, requires_grad=True)
    value = checked(log_bessel_i_over_power)(order, x)
    (slope,) = torch.autograd.grad(value.sum(), x)
    return value.detach().numpy(), slope.numpy()


@pytest.mark.thorough
@pytest.mark.parametrize("order", ORDERS)
def test_bessel_equals_arbitrary_precision(order: float) -> None:
    """Take 50 digits; logarithms of I from about -6,000 to 10,000, where I is no float64."""
    with mpmath.workdps(50):
        bessel = [mpmath.besseli(order, x) for x in POINTS]
        ratio = [mpmath.besseli(order + 1, x) / b for x, b in zip(POINTS, bessel, strict=True)]
        logs = [mpmath.log(b) - order * mpmath.log(x) for x, b in zip(POINTS, bessel, strict=True)]
    value, slope = with_slope(order, POINTS)
    np.testing.assert_allclose(value, np.array(logs, float), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(slope, np.array(ratio, float), rtol=1e-11)


def test_bessel_at_zero() -> None:
    """Expect I_v(x) / x^v → 1 / (2^v Γ(v + 1)); the gradient, about x / (2v + 2), is 0."""
    for order in ORDERS:
        value, slope = with_slope(order, [0.0, 1e-9])
        limit = -order * math.log(2) - math.lgamma(order + 1)
        assert value == pytest.approx([limit, limit], rel=1e-12, abs=1e-12)
        assert slope == pytest.approx([0, 1e-9 / (2 * order + 2)], rel=1e-9, abs=0)


@pytest.mark.thorough
def test_bessel_keeps_dtype_and_device() -> None:
    """Use a tensor of the `meta` device: without values, it would not survive NumPy."""
    for dtype in (torch.float32, torch.float16):
        assert log_bessel_i_over_power(2.0, torch.ones(3, dtype=dtype)).dtype == dtype
    x = torch.ones(3, device="meta", requires_grad=True)
    logarithm = log_bessel_i_over_power(2.0, x)
    logarithm.sum().backward()
    assert logarithm.device.type == x.grad.device.type == "meta"
    assert logarithm.dtype == x.grad.dtype == torch.float32
