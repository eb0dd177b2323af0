"""The index: the distinct titles of a taxonomy, their occupations, and their vectors as stored.

A title of several occupations stands once; its memberships are listed. An *exemplar* is an input
whose occupation is known or predicted; it works as one more alias of its occupation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Self

import numpy as np

from models.text.texts import Coded

if TYPE_CHECKING:
    from jaxtyping import Float32, Int, Int64, Shaped

HALF_BYTES, LOWER, EIGHTS = 4, 15, 8
STEPS = 1 << 13
"""The norm of a quantized title. A row of bytes has one of 127·√dim at most: with 256 dimensions,
no sum of products is larger than 2²⁴."""
FLOATS = 1 << 10  # the norm of a row of floats that is quantized
LANES = 16  # rows of a block that are multiplied at once (`multiply_block`)
ROWS_AT_ONCE = 1 << 14
TILE = 16  # rows of floats that are multiplied at once, by `similarities`


@dataclass(frozen=True)
class Memberships:
    """Distinct (title, occupation) pairs, sorted by occupation, then title.

    Attributes:
        titles: position of each pair's title.
        starts: where each occupation's pairs begin in `titles`.
        sizes: how many aliases each occupation has, at least one.
        languages: of each pair, if known.
    """

    titles: Int64[np.ndarray, " membership"]
    starts: Int64[np.ndarray, " occupation"]
    sizes: Int64[np.ndarray, " occupation"]
    languages: Coded | None = None

    @classmethod
    def from_pairs(
        cls,
        titles: Int[np.ndarray, " pair"],
        owners: Int[np.ndarray, " pair"],
        occupations: int,
        languages: Coded | None = None,
    ) -> Memberships:
        """Sort the pairs and drop repeated ones; of their `languages` the first stays.

        Raises:
            ValueError: an occupation of 0 … `occupations` − 1 has no title, or an index is outside.
        """
        lowest = min(titles.min(initial=0), owners.min(initial=0))
        if lowest < 0 or owners.max(initial=-1) >= occupations:
            raise ValueError(f"an index is negative or no occupation below {occupations}")
        count = titles.max(initial=0) + np.int64(1)
        pairs = owners * count + titles
        order = np.argsort(pairs, kind="stable")
        order = order[np.diff(pairs[order], prepend=-1) > 0]
        sizes = np.bincount(pairs[order] // count, minlength=occupations)
        if not sizes.all():
            empty = np.flatnonzero(sizes == 0)
            raise ValueError(
                f"{len(empty)} of {occupations} occupations have no title, the first is "
                f"{empty[0]}; give each one at least one title of the index"
            )
        if languages is not None:
            languages = Coded(languages.names, languages.codes[order])
        return cls(pairs[order] % count, np.cumsum(sizes) - sizes, sizes, languages)


@dataclass(frozen=True)
class AliasIndex:
    """Titles, occupations and which belongs to which; a position is one in these lists.

    Attributes:
        titles: distinct cleaned titles, sorted by code points.
        occupations: occupation_ids, sorted by code points.
        memberships: which title belongs to which occupation.
    """

    titles: Sequence[str]
    occupations: Sequence[str]
    memberships: Memberships

    @classmethod
    def of(
        cls,
        titles: Sequence[str],
        occupation_ids: Sequence[str],
        languages: Sequence[str] | None = None,
    ) -> AliasIndex:
        """Index cleaned titles, each with the occupation, and the language, in the same row.

        Raises:
            ValueError: there is no title.
        """
        if not len(titles):
            raise ValueError("no alias: an index needs one title at least; see the stage ingest")
        title, occupation = Coded.of(titles), Coded.of(occupation_ids)
        pairs = Memberships.from_pairs(
            title.codes,
            occupation.codes,
            len(occupation.names),
            None if languages is None else Coded.of(languages),
        )
        return cls(title.names, occupation.names, pairs)

    def gold_positions(self, occupation_ids: Sequence[Sequence[str]]) -> list[list[int]]:
        """Return the positions of each query's gold, without occupations outside the index."""
        known = {name: position for position, name in enumerate(self.occupations)}
        return [[known[name] for name in gold if name in known] for gold in occupation_ids]

    def positions(self, titles: Sequence[str]) -> Int64[np.ndarray, " title"]:
        """Return the position of each cleaned title, −1 of one that the index lacks."""
        found = self._positions
        return np.array([found.get(title, -1) for title in titles], np.int64)

    def __contains__(self, title: object) -> bool:
        return title in self._positions

    @cached_property
    def _positions(self) -> dict[str, int]:
        return dict(zip(self.titles, range(len(self.titles)), strict=True))

    def owners(self, title: str) -> list[int]:
        """Return the occupations of a title, ascending; none of one that the index lacks."""
        position = self._positions.get(title)
        return [] if position is None else self.owners_of(position)

    def owners_of(self, position: int) -> list[int]:
        """Return the occupations of the title at a position, ascending."""
        starts, occupations = self._by_title
        own: list[int] = occupations[starts[position] : starts[position + 1]].tolist()
        return own

    @cached_property
    def _by_title(self) -> tuple[Int64[np.ndarray, " title+1"], Int64[np.ndarray, " membership"]]:
        """Where the occupations of each title begin, and these."""
        members = self.memberships
        owners = np.repeat(np.arange(len(members.sizes)), members.sizes)
        counts = np.bincount(members.titles, minlength=len(self.titles))
        starts = np.concatenate([[0], np.cumsum(counts)])
        return starts, owners[np.argsort(members.titles, kind="stable")]


def quantized(embeddings: Float32[np.ndarray, "title dim"]) -> Float32[np.ndarray, "title dim"]:
    """Return embeddings of unit norm as integers of norm `STEPS`."""
    numbers: Float32[np.ndarray, "title dim"] = np.round(embeddings * np.float32(STEPS))
    return numbers


@dataclass(frozen=True, eq=False)
class StoredVectors:
    """A table of embeddings of unit norm: rows of numbers in four or eight bits, or floats.

    A row is its numbers and the factor that brings them to unit norm; the table is read where it
    lies in the file. Of half bytes, a byte holds 8 + number j of the first half of a row in its
    lower bits and 8 + number j of the second half in its upper ones
    (`models/network/quantization.py`).

    Attributes:
        rows: a record each, of the fields `numbers` (uint8: two half bytes) and `factor`.
    """

    rows: Shaped[np.ndarray, " row"]

    @classmethod
    def of(cls, numbers: Shaped[np.ndarray, "row _"]) -> Self:
        """Store half bytes (uint8), bytes (int8) or floats; a row of zeros stays one."""
        kind = [("numbers", numbers.dtype, numbers.shape[1:]), ("factor", np.float32)]
        rows = np.empty(len(numbers), kind)
        rows["numbers"], rows["factor"] = numbers, 1
        table = cls(rows)
        for start in range(0, len(rows), ROWS_AT_ONCE):
            part = np.arange(start, min(start + ROWS_AT_ONCE, len(rows)))
            norms = np.linalg.norm(table[part], axis=1)
            rows["factor"][part] = 1 / np.where(norms > 0, norms, 1)
        return table

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(
        self, positions: Int64[np.ndarray, " row"] | slice
    ) -> Float32[np.ndarray, "row dim"]:
        """Return rows as floats of unit norm."""
        rows: Float32[np.ndarray, "row dim"] = _signed(self.rows["numbers"][positions]).astype(
            np.float32
        )
        rows *= self.rows["factor"][positions, None]
        return rows

    def blocks(
        self, positions: Int64[np.ndarray, " link"], starts: Int64[np.ndarray, " group+1"]
    ) -> tuple[
        Shaped[np.ndarray, "block pair number"],
        Int64[np.ndarray, " group+1"],
        Float32[np.ndarray, " row"],
    ]:
        """Return the rows of groups of links in blocks of integers (`multiply_block`).

        Returns:
            The blocks, where the last row of a group stands again if its block has room; where the
            blocks of each group begin, with the end of the last; and what makes the products of
            each of their rows with quantized titles cosines. Products are exact.
        """
        sizes = np.diff(starts)
        counts = -(-sizes // LANES)
        begins = np.concatenate([[0], np.cumsum(counts)])
        ranks = np.arange(begins[-1] * LANES) - np.repeat(begins[:-1], counts * LANES) * LANES
        last = np.repeat(sizes - 1, counts * LANES)
        links = positions[np.repeat(starts[:-1], counts * LANES) + np.minimum(ranks, last)]
        none = _blocks_of(_whole_rows(self.rows[:0])[0])
        kind = np.int8 if none.dtype == np.int8 else np.int16
        blocks = np.empty((begins[-1], *none.shape[1:]), kind)
        factors = np.empty(len(links), np.float32)
        for start in range(0, len(links), ROWS_AT_ONCE):
            part = slice(start, start + ROWS_AT_ONCE)
            rows, factors[part] = _whole_rows(self.rows.take(links[part]))
            blocks[start // LANES : part.stop // LANES] = _blocks_of(rows)
        return blocks, begins, factors


def in_pairs(rows: Shaped[np.ndarray, "row dim"]) -> Shaped[np.ndarray, "row number"]:
    """Return rows with a zero more where their length is odd."""
    return np.pad(rows, ((0, 0), (0, 1))) if rows.shape[1] % 2 else rows


def _blocks_of(rows: Shaped[np.ndarray, "row dim"]) -> Shaped[np.ndarray, "block pair number"]:
    """Return rows of integers, as many as fill blocks."""
    even = np.ascontiguousarray(in_pairs(rows))
    pairs = even.view(f"u{2 * even.itemsize}")  # two numbers as one: they move together
    turned = pairs.reshape(len(even) // LANES, LANES, pairs.shape[1]).transpose(0, 2, 1)
    return np.ascontiguousarray(turned).view(even.dtype)


def _whole_rows(
    records: Shaped[np.ndarray, " row"],
) -> tuple[Shaped[np.ndarray, "row dim"], Float32[np.ndarray, " row"]]:
    numbers, factors = _signed(records["numbers"]), records["factor"] / np.float32(STEPS)
    if numbers.dtype == np.int8:
        return numbers, factors
    return np.round(numbers * FLOATS), factors / np.float32(FLOATS)


def _signed(numbers: Shaped[np.ndarray, "row _"]) -> Shaped[np.ndarray, "row dim"]:
    """Return half bytes as bytes, and other numbers as they are."""
    if numbers.dtype != np.uint8:
        return np.ascontiguousarray(numbers)
    wide = np.concatenate([numbers & LOWER, numbers >> HALF_BYTES], axis=1)
    return wide.view(np.int8) - np.int8(EIGHTS)


def similarities(
    rows: Float32[np.ndarray, "row dim"], others: Float32[np.ndarray, "other dim"]
) -> Float32[np.ndarray, "row other"]:
    """Return rows · othersᵀ.

    Sums of floats depend on their order, and a library's order on the shape of its matrices: so
    rows always go through in tiles of one size, on the right of the product. With 16 rows there,
    and no more, a row's position within its tile changes nothing in OpenBLAS's kernels for Haswell,
    SkylakeX and Sandy Bridge.
    """
    beyond = np.zeros((-len(rows) % TILE, rows.shape[1]), np.float32)
    tiles = np.concatenate([rows, beyond]).reshape(-1, TILE, rows.shape[1])
    product = others @ tiles.transpose(0, 2, 1)
    # row by row in memory, too: sums over a row depend on that
    turned = np.ascontiguousarray(product.transpose(0, 2, 1)).reshape(-1, len(others))
    product_rows: Float32[np.ndarray, "row other"] = turned[: len(rows)]
    return product_rows
