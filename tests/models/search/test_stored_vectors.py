"""Stored rows beside the tables that they were made of, and the bits of their products."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from models.network.quantization import Precision, pack, widened
from models.search.row_blocks import LANES, in_pairs
from models.search.stored_vectors import TILE, StoredVectors, similarities, tiled, whole

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


@pytest.mark.parametrize("dim", [255, 256])
def test_blocks_hold_the_rows_of_each_group(dim: int) -> None:
    vectors, titles = StoredVectors.of(ROWS[:, :dim]), whole(TITLES[:, :dim])
    places, starts = RANDOM.integers(0, 300, 74), np.array([0, 1, 17, 34, 74])
    blocks, begins, factors = vectors.blocks(places, starts)
    assert begins.tolist() == [0, 1, 2, 4, 7] and blocks.shape == (7, 128, 2 * LANES)
    rows = blocks.reshape(7, 128, LANES, 2).transpose(0, 2, 1, 3).reshape(-1, 256)
    near = in_pairs(titles) @ rows.T * factors
    for group, begin in enumerate(begins[:-1] * LANES):
        own = places[starts[group] : starts[group + 1]]
        assert (near[:, begin : begin + len(own)] == vectors.near(titles, own)).all()


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
