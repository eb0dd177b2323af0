"""Adam for one large table of which a step reads few rows: the other rows stay as they are.

`torch.optim.SparseAdam` computes the same (apart from rounding) several times as slowly. On a CPU
numba compiles the update, and a row is the work of one thread, so the bits are the same whatever
their number. A GPU takes the same update from torch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

if TYPE_CHECKING:
    from jaxtyping import Float, Int, Int64
    from torch import Tensor

BETAS, EPSILON = (0.9, 0.999), 1e-8  # Kingma and Ba 2015, and torch's defaults


class LazyAdam:
    """Adam (Kingma and Ba 2015, algorithm 1) on the rows of a table that have a gradient.

    `params`: one table `[row, dim]` whose gradient is sparse over rows, as `RowSums` makes it. A
    `torch.optim.Optimizer` would bring in torch's compiler, which takes seconds.
    """

    def __init__(self, params: Iterable[Tensor], lr: float) -> None:
        (self.table,) = params
        self.param_groups: list[dict[str, Any]] = [{"params": [self.table], "lr": lr}]
        self._state: dict[str, Tensor] = {}

    def zero_grad(self) -> None:
        """Forget the gradient."""
        self.table.grad = None

    def state_dict(self) -> dict[str, Any]:
        """Return the moments of the table, which has the number 0, under `state`."""
        return {"state": {0: self._state} if self._state else {}}

    def load_state_dict(self, values: dict[str, Any]) -> None:
        """Take back what `state_dict` returned, on whatever device it lies."""
        for slot, value in values["state"].get(0, {}).items():
            self._state[slot] = value if slot == "step" else value.to(self.table.device)

    @torch.no_grad()
    def step(self) -> None:
        """Make one update."""
        state, table = self._state, self.table
        if not state:
            state["step"] = torch.zeros((), dtype=torch.float32)
            state["exp_avg"] = torch.zeros_like(table)
            state["exp_avg_sq"] = torch.zeros_like(table)
        state["step"] += 1
        first, second = (1 - beta ** float(state["step"]) for beta in BETAS)
        rate = self.param_groups[0]["lr"] * second**0.5 / first
        factors = [*(1 - beta for beta in BETAS), rate, EPSILON * second**0.5]
        moments, (rows, gradients) = (state["exp_avg"], state["exp_avg_sq"]), _parts(table)
        if table.device.type != "cpu":
            update_rows(table, moments, rows, gradients, factors)
            return
        mean, square = (moment.numpy() for moment in moments)
        exact = np.array(factors, mean.dtype)
        compiled_update()(table.numpy(), (mean, square), rows.numpy(), gradients.numpy(), exact)


def clip_rows(tables: Iterable[Tensor], most: float) -> None:
    """Scale sparse gradients of tables so that their norm together is `most` at most."""
    gradients = [_parts(table)[1] for table in tables if table.grad is not None]
    norm = torch.stack([gradient.norm() for gradient in gradients]).norm()
    for gradient in gradients:
        gradient.mul_((most / (norm + 1e-6)).clamp(max=1))


def update_rows(
    table: Float[Tensor, "row dim"],
    moments: tuple[Float[Tensor, "row dim"], Float[Tensor, "row dim"]],
    rows: Int[Tensor, " read"],
    gradients: Float[Tensor, "read dim"],
    factors: Sequence[float],
) -> None:
    """Change `rows` of the table and of both moments, on any device.

    `factors`: 1 - β₁, 1 - β₂, the learning rate and ε, both corrected for the bias of the moments.
    """
    first, second, rate, epsilon = factors
    mean = moments[0].index_select(0, rows).lerp_(gradients, first)
    square = moments[1].index_select(0, rows).lerp_(gradients.square(), second)
    moments[0].index_copy_(0, rows, mean)
    moments[1].index_copy_(0, rows, square)
    table.index_add_(0, rows, mean.div_(square.sqrt_().add_(epsilon)), alpha=-rate)


@cache
def compiled_update() -> Callable[..., None]:
    """Return `update_rows` for arrays, compiled: it reads and writes each number once."""
    import numba

    @numba.njit(parallel=True, cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
    def update(
        table: Float[np.ndarray, "row dim"],
        moments: tuple[Float[np.ndarray, "row dim"], Float[np.ndarray, "row dim"]],
        rows: Int64[np.ndarray, " read"],
        gradients: Float[np.ndarray, "read dim"],
        factors: Float[np.ndarray, " 4"],
    ) -> None:
        mean, square = moments
        first, second, rate, epsilon = factors
        for read in numba.prange(len(rows)):
            row = rows[read]
            for d in range(table.shape[1]):
                gradient = gradients[read, d]
                mean[row, d] += (gradient - mean[row, d]) * first
                square[row, d] += (gradient * gradient - square[row, d]) * second
                table[row, d] -= rate * mean[row, d] / (np.sqrt(square[row, d]) + epsilon)

    compiled: Callable[..., None] = update
    return compiled


def _parts(table: Tensor) -> tuple[Tensor, Tensor]:
    """Return the rows with a gradient, each once, and their gradients."""
    assert table.grad is not None
    return table.grad._indices()[0], table.grad._values()
