"""Stored rows beside the tables that they were made of, and the bits of their products."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from models.network.quantization import Precision, pack, widened
from models.search.stored_vectors import StoredVectors, whole

RANDOM = np.random.default_rng(1)
ROWS, TITLES = (RANDOM.normal(size=(count, 256)).astype(np.float32) for count in (300, 40))
for table in (ROWS, TITLES):
    table /= np.linalg.norm(table, axis=1, keepdims=True)


def stored(precision: Precision) -> tuple[StoredVectors, np.ndarray]:
    """Return rows as they are stored, and as floats of unit norm."""
    if precision == "single":
        return StoredVectors.of(ROWS), ROWS
    packed = pack(torch.from_numpy(ROWS), precision)[0]
    floats = widened(packed).float().numpy()
    return StoredVectors.of(packed.numpy()), floats / np.linalg.norm(floats, axis=1, keepdims=True)


@pytest.mark.parametrize("precision", ["half_byte", "byte", "single"])
def test_rows_and_cosines_are_those_of_the_packed_table(precision: Precision) -> None:
    vectors, rows = stored(precision)
    assert len(vectors) == 300
    np.testing.assert_allclose(vectors[:], rows, atol=1e-6)
    places = RANDOM.integers(0, 300, 70)
    np.testing.assert_allclose(vectors[places], rows[places], atol=1e-6)
    near = vectors.near(whole(TITLES), places)
    np.testing.assert_allclose(near, TITLES @ rows[places].T, atol=1e-3)


@pytest.mark.parametrize("precision", ["half_byte", "byte", "single"])
def test_a_cosine_has_the_same_bits_whatever_else_is_multiplied(precision: Precision) -> None:
    vectors, _ = stored(precision)
    titles, places = whole(TITLES), np.arange(300)
    near = vectors.near(titles, places)
    for row in range(0, len(titles), 7):
        assert (vectors.near(titles[[row]], places[5:17]) == near[row, 5:17]).all()
    order = RANDOM.permutation(40)
    assert (vectors.near(titles[order], places[::-1]) == near[order][:, ::-1]).all()


def test_a_row_of_zeros_stays_one() -> None:
    vectors = StoredVectors.of(np.zeros((2, 4), np.int8))
    assert (
        not vectors[:].any() and not vectors.near(np.ones((1, 4), np.float32), np.arange(2)).any()
    )


def test_whole_titles_times_the_largest_rows_are_exact() -> None:
    """Each number of a row of bytes is 127: 127·√256 times the norm of the title is below 2²⁴."""
    vectors = StoredVectors.of(np.full((1, 256), 127, np.int8))
    title = whole(np.full((1, 256), 1 / 16, np.float32))
    exact = int(title.astype(np.int64).sum()) * 127
    assert exact < 2**24
    assert vectors.near(title, np.array([0]))[0, 0] == pytest.approx(1, abs=1e-6)
