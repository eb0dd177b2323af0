"""The Bessel function against arbitrary precision, closed forms, SciPy and finite differences."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
import torch
from shapes import checked

from models.losses.shared.bessel import (
    log_bessel_i_over_power,
)

# of 2 to 1024 dimensions: dim / 2 - 1 is a whole or a half
ORDERS = [0.0, 0.5, 1.0, 3.5, 14.0, 31.0, 31.5, 32.0, 63.0, 149.0, 255.0, 511.0]
POINTS = [1e-3, 0.1, 1.0, 7.0, 30.0, 100.0, 700.0, 1e4]


def log_bessel_i(order: float, x: torch.Tensor) -> torch.Tensor:
    """Return log I_v(x), for x above 0."""
    return order * x.log() + log_bessel_i_over_power(order, x)


def with_slope(function: object, order: float, points: list[float]) -> tuple[np.ndarray, ...]:
    x = torch.tensor(points, dtype=torch.float64, requires_grad=True)
    value = function(order, x)
    (slope,) = torch.autograd.grad(value.sum(), x)
    return value.detach().numpy(), slope.numpy()


@pytest.mark.thorough
@pytest.mark.parametrize("order", ORDERS)
def test_equals_arbitrary_precision(order: float) -> None:
    """Take 50 digits; logarithms from about -6,000 to 10,000, where I itself is no float64."""
    with mpmath.workdps(50):
        bessel = [mpmath.besseli(order, x) for x in POINTS]
        ratio = [mpmath.besseli(order + 1, x) / b for x, b in zip(POINTS, bessel, strict=True)]
        logs = [mpmath.log(b) for b in bessel]
        scaled = [a - order * mpmath.log(x) for x, a in zip(POINTS, logs, strict=True)]
    value, slope = with_slope(log_bessel_i, order, POINTS)
    np.testing.assert_allclose(value, np.array(logs, float), rtol=1e-12, atol=1e-12)
    whole = np.array(ratio, float) + order / np.array(POINTS)
    np.testing.assert_allclose(slope, whole, rtol=1e-11)
    value, slope = with_slope(checked(log_bessel_i_over_power), order, POINTS)
    np.testing.assert_allclose(value, np.array(scaled, float), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(slope, np.array(ratio, float), rtol=1e-11)


def test_by_hand() -> None:
    """Use half orders: I_½(x) = √(2/(πx)) sinh x and I_3/2 = √(2/(πx)) (cosh - sinh/x).

    At x = 2: √(1/π) = 0.564190, sinh 2 = 3.626860, cosh 2 = 3.762196. I_½ = 2.046237, its logarithm
    0.716002. I_3/2 = 0.564190 (3.762196 - 1.813430) = 1.099473, so the gradient is
    1.099473 / 2.046237 + 0.5/2 = 0.537315 + 0.25 = 0.787315 (coth 2 - 1/4, too).
    I_0(1) = Σ (1/4)^k / k!² = 1 + 0.25 + 0.015625 + 0.000434 + 0.000007 = 1.266066.
    """
    value, slope = with_slope(log_bessel_i, 0.5, [2.0])
    assert value[0] == pytest.approx(0.716002, abs=1e-6)
    assert slope[0] == pytest.approx(0.787315, abs=1e-6)
    assert slope[0] == pytest.approx(1 / math.tanh(2) - 0.25, rel=1e-12)
    value, _ = with_slope(log_bessel_i, 0.0, [1.0])
    assert math.exp(value[0]) == pytest.approx(1.266066, abs=1e-6)


def test_at_zero_nothing_blows_up() -> None:
    """Expect I_v(x) / x^v → 1 / (2^v Γ(v + 1)); the gradient, about x / (2v + 2), is 0."""
    for order in ORDERS:
        value, slope = with_slope(log_bessel_i_over_power, order, [0.0, 1e-9])
        limit = -order * math.log(2) - math.lgamma(order + 1)
        assert value == pytest.approx([limit, limit], rel=1e-12, abs=1e-12)
        assert slope == pytest.approx([0, 1e-9 / (2 * order + 2)], rel=1e-9, abs=0)


@pytest.mark.thorough
def test_dtype_and_device_are_those_of_x() -> None:
    """Use a tensor of the `meta` device: without values, it would not survive NumPy."""
    for dtype in (torch.float32, torch.float16):
        assert log_bessel_i_over_power(2.0, torch.ones(3, dtype=dtype)).dtype == dtype
    x = torch.ones(3, device="meta", requires_grad=True)
    logarithm = log_bessel_i_over_power(2.0, x)
    logarithm.sum().backward()
    assert logarithm.device.type == x.grad.device.type == "meta"
    assert logarithm.dtype == x.grad.dtype == torch.float32


def test_negative_order_is_refused() -> None:
    with pytest.raises(ValueError, match=r"order = -0.5: choose 0 or more"):
        log_bessel_i_over_power(-0.5, torch.ones(1))
