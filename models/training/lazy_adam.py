"""Adam for one large table of which a step reads few rows: the other rows stay as they are.

`torch.optim.SparseAdam` computes the same (apart from rounding) and takes several times as long on
a CPU, because it builds sparse tensors of the moments on the way.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

if TYPE_CHECKING:
    from jaxtyping import Float, Int
    from torch import Tensor

BETAS, EPSILON = (0.9, 0.999), 1e-8  # Kingma and Ba 2015, and torch's defaults


class LazyAdam:
    """Adam (Kingma and Ba 2015, algorithm 1) on the rows that have a gradient.

    It has what training calls of a `torch.optim.Optimizer`, whose first object brings in torch's
    compiler: that takes seconds.

    Args:
        params: tables `[row, dim]` whose gradients are sparse over rows, as `RowSums` makes them.
        lr: the learning rate.
    """

    def __init__(self, params: Iterable[Tensor], lr: float) -> None:
        self.param_groups: list[dict[str, Any]] = [{"params": [*params], "lr": lr}]
        self._state: dict[int, dict[str, Tensor]] = {}

    def zero_grad(self, *, set_to_none: bool = True) -> None:
        """Forget the gradients."""
        assert set_to_none
        for table in self.param_groups[0]["params"]:
            table.grad = None

    def state_dict(self) -> dict[str, Any]:
        """Return the moments of each table, by its number, under `state`."""
        return {"state": self._state}

    def load_state_dict(self, values: dict[str, Any]) -> None:
        """Take back what `state_dict` returned, on whatever device it lies."""
        for number, slots in values["state"].items():
            device = self.param_groups[0]["params"][number].device
            moved = {slot: value.to(device) for slot, value in slots.items() if slot != "step"}
            self._state[number] = {**slots, **moved}

    @torch.no_grad()
    def step(self) -> None:
        """Make one update."""
        (group,) = self.param_groups
        for number, table in enumerate(group["params"]):
            if table.grad is not None:
                self._update(table, self._state.setdefault(number, {}), group["lr"])

    def _update(self, table: Tensor, state: dict[str, Tensor], lr: float) -> None:
        if not state:
            state["step"] = torch.zeros((), dtype=torch.float32)
            state["exp_avg"] = torch.zeros_like(table)
            state["exp_avg_sq"] = torch.zeros_like(table)
        state["step"] += 1
        first, second = (1 - beta ** float(state["step"]) for beta in BETAS)
        factors = [*(1 - beta for beta in BETAS), lr * second**0.5 / first, EPSILON * second**0.5]
        moments, parts = (state["exp_avg"], state["exp_avg_sq"]), _parts(table)
        if table.device.type != "cpu":
            update_rows(table, moments, *parts, factors)
            return
        from models.training.adam_kernel import update  # a GPU needs no compiler

        rows, gradient = (part.numpy() for part in parts)
        kept = tuple(moment.numpy() for moment in moments)
        update(table.numpy(), kept, rows, gradient, np.array(factors, gradient.dtype))


def update_rows(
    table: Float[Tensor, "row dim"],
    moments: tuple[Float[Tensor, "row dim"], Float[Tensor, "row dim"]],
    rows: Int[Tensor, " read"],
    gradients: Float[Tensor, "read dim"],
    factors: Sequence[float],
) -> None:
    """Change `rows` as `models/training/adam_kernel.py` does, on any device."""
    first, second, rate, epsilon = factors
    mean = moments[0].index_select(0, rows).lerp_(gradients, first)
    square = moments[1].index_select(0, rows).lerp_(gradients.square(), second)
    moments[0].index_copy_(0, rows, mean)
    moments[1].index_copy_(0, rows, square)
    table.index_add_(0, rows, mean.div_(square.sqrt_().add_(epsilon)), alpha=-rate)


def clip_rows(tables: Iterable[Tensor], most: float) -> None:
    """Scale sparse gradients of tables so that their norm together is `most` at most."""
    gradients = [_parts(table)[1] for table in tables if table.grad is not None]
    norm = torch.stack([gradient.norm() for gradient in gradients]).norm()
    for gradient in gradients:
        gradient.mul_((most / (norm + 1e-6)).clamp(max=1))


def _parts(table: Tensor) -> tuple[Tensor, Tensor]:
    """Return the rows with a gradient, each once, and their gradients.

    Torch forgets that a gradient is coalesced when it hands it to the table.
    """
    assert table.grad is not None
    return table.grad._indices()[0], table.grad._values()
