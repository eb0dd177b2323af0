"""The compiled update against that of torch, which a GPU takes."""

from __future__ import annotations

import numpy as np
import torch

from models.training.adam_kernel import update
from models.training.lazy_adam import update_rows

FACTORS = [0.1, 0.001, 0.01, 1e-8]


def test_it_is_the_update_of_torch_and_other_rows_stay() -> None:
    torch.manual_seed(1)
    table, mean, rows = torch.randn(9, 5), torch.randn(9, 5), torch.tensor([7, 0, 3])
    square, gradients = torch.rand(9, 5), torch.randn(3, 5)
    compiled = [part.clone().numpy() for part in (table, mean, square)]
    before = compiled[0].copy()
    update(
        compiled[0],
        (compiled[1], compiled[2]),
        rows.numpy(),
        gradients.numpy(),
        np.array(FACTORS, np.float32),
    )
    update_rows(table, (mean, square), rows, gradients, FACTORS)
    for ours, theirs in zip(compiled, (table, mean, square), strict=True):
        torch.testing.assert_close(torch.from_numpy(ours), theirs)
    changed = (compiled[0] != before).all(axis=1)
    assert np.flatnonzero(changed).tolist() == sorted(rows.tolist())
