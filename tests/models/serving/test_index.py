"""The index of aliases, and stored rows beside the tables that they were made of."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from shapes import check_fields

from models.network.quantization import Precision, pack, widened
from models.serving.index import (
    LANES,
    TILE,
    AliasIndex,
    StoredVectors,
    in_pairs,
    quantized,
    similarities,
)

OWNED = st.lists(st.tuples(st.text("ab\x00é", max_size=3), st.sampled_from("xyz")), min_size=1)


def test_by_hand() -> None:
    """Titles cook, nurse, tutor; a holds nurse and tutor, b holds cook and tutor."""
    index = AliasIndex.of(["tutor", "tutor", "cook", "nurse"], ["b", "a", "b", "a"])
    check_fields(index.memberships)
    assert index.titles == ["cook", "nurse", "tutor"]
    assert index.occupations == ["a", "b"]
    assert index.memberships.titles.tolist() == [1, 2, 0, 2]
    assert index.memberships.sizes.tolist() == [2, 2]
    assert index.gold_positions([["b", "a"], ["x"], ["x", "a"], []]) == [[1, 0], [], [0], []]


@pytest.mark.thorough
@given(OWNED)
def test_every_membership_once(owned: list[tuple[str, str]]) -> None:
    """Whatever the order and however often: the pairs are those of the rows."""
    index = AliasIndex.of(*map(list, zip(*owned, strict=True)))
    assert index.titles == sorted({title for title, _ in owned})
    assert index.occupations == sorted({occupation for _, occupation in owned})
    held = index.memberships
    pairs = [
        (index.titles[title], index.occupations[occupation])
        for occupation, (start, size) in enumerate(zip(held.starts, held.sizes, strict=True))
        for title in held.titles[start : start + size]
    ]
    assert len(pairs) == len(set(pairs)) == len(held.titles)
    assert set(pairs) == set(owned)


def test_titles_that_numpy_would_cut_or_inflate() -> None:
    """A string array drops NULs at the end and gives each title the room of the longest."""
    long = "x" * 10_000
    assert AliasIndex.of([long, "n\x00", "n"], ["b", "a", "a"]).titles == ["n", "n\x00", long]


@given(st.lists(st.text(max_size=3), min_size=1), st.lists(st.text(max_size=2)))
def test_positions_and_owners(titles: list[str], others: list[str]) -> None:
    index = AliasIndex.of(titles, [str(number % 3) for number in range(len(titles))])
    asked = [*titles, *others]
    known = [*index.titles]
    assert index.positions(asked).tolist() == [
        known.index(title) if title in known else -1 for title in asked
    ]
    names = [index.occupations.index(str(row % 3)) for row in range(len(titles))]
    for title in known:
        owners = {name for name, own in zip(names, titles, strict=True) if own == title}
        assert index.owners(title) == sorted(owners) and title in index


def test_no_alias_is_an_error() -> None:
    with pytest.raises(ValueError, match="no alias: an index needs one title at least"):
        AliasIndex.of([], [])


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
def test_rows_are_those_of_the_packed_table(precision: Precision) -> None:
    vectors, rows = stored(precision)
    assert len(vectors) == 300
    np.testing.assert_allclose(vectors[:], rows, atol=1e-6)
    positions = RANDOM.integers(0, 300, 70)
    np.testing.assert_allclose(vectors[positions], rows[positions], atol=1e-6)


@pytest.mark.parametrize("precision", ["half_byte", "byte", "single"])
@pytest.mark.parametrize("dim", [255, 256])
def test_blocks_hold_the_rows_of_each_group(dim: int, precision: Precision) -> None:
    """Their products with quantized titles are cosines, but for what quantizing rounds."""
    rows = ROWS[:, :dim] if precision == "single" else stored(precision)[1]
    if precision != "single" and dim == 255:
        return  # half bytes stand in pairs
    vectors = StoredVectors.of(rows) if precision == "single" else stored(precision)[0]
    titles = quantized(TITLES[:, :dim])
    positions, starts = RANDOM.integers(0, 300, 74), np.array([0, 1, 17, 34, 74])
    blocks, begins, factors = vectors.blocks(positions, starts)
    assert begins.tolist() == [0, 1, 2, 4, 7] and blocks.shape == (7, 128, 2 * LANES)
    numbers = blocks.reshape(7, 128, LANES, 2).transpose(0, 2, 1, 3).reshape(-1, 256)
    near = in_pairs(titles) @ numbers.T.astype(np.float32) * factors
    unit = vectors[:]
    for group, begin in enumerate(begins[:-1] * LANES):
        own = positions[starts[group] : starts[group + 1]]
        expected = TITLES[:, :dim] @ unit[own].T
        assert near[:, begin : begin + len(own)] == pytest.approx(expected, abs=2e-3)


def test_a_row_of_zeros_stays_one() -> None:
    vectors = StoredVectors.of(np.zeros((2, 4), np.int8))
    assert not vectors[:].any()
    assert not vectors.blocks(np.arange(2), np.array([0, 2]))[0].any()


def test_quantized_titles_times_the_largest_rows_are_exact() -> None:
    """Each number of a row of bytes is 127: 127·√256 times the norm of the title is below 2²⁴."""
    title = quantized(np.full((1, 256), 1 / 16, np.float32))
    assert int(title.astype(np.int64).sum()) * 127 < 2**24


@pytest.mark.parametrize("count", [0, 1, TILE - 1, TILE, TILE + 1, 100])
def test_a_product(count: int) -> None:
    rng = np.random.default_rng(count)
    rows, others = (rng.normal(size=(n, 24)).astype(np.float32) for n in (count, 50))
    assert similarities(rows, others) == pytest.approx(rows @ others.T, abs=1e-5)


def test_a_row_gets_the_same_bits_alone_and_in_any_order() -> None:
    rng = np.random.default_rng(1)
    rows, others = (rng.normal(size=(n, 320)).astype(np.float32) for n in (77, 301))
    together = similarities(rows, others)
    order = rng.permutation(len(rows))
    assert (similarities(rows[order], others) == together[order]).all()
    for row in range(0, len(rows), 7):
        assert (similarities(rows[row : row + 1], others) == together[row]).all()
