"""Products that do not depend on what else is multiplied."""

from __future__ import annotations

import numpy as np
import pytest

from models.search.tiled_matmul import TILE, similarities, tiled


@pytest.mark.parametrize("count", [0, 1, TILE - 1, TILE, TILE + 1, 100])
def test_a_product(count: int) -> None:
    rng = np.random.default_rng(count)
    rows, others = (rng.normal(size=(n, 24)).astype(np.float32) for n in (count, 50))
    assert similarities(rows, others) == pytest.approx(rows @ others.T, abs=1e-5)
    assert len(tiled(rows)) % TILE == 0 and not tiled(rows)[count:].any()


def test_a_row_gets_the_same_bits_alone_and_in_any_order() -> None:
    rng = np.random.default_rng(1)
    rows, others = (rng.normal(size=(n, 320)).astype(np.float32) for n in (77, 301))
    together = similarities(rows, others)
    order = rng.permutation(len(rows))
    assert (similarities(rows[order], others) == together[order]).all()
    for row in range(0, len(rows), 7):
        assert (similarities(rows[row : row + 1], others) == together[row]).all()
