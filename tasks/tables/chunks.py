"""Chunks of a table: some ten thousand rows as text, with faulty ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import polars as pl

from tasks.tables.rejected import Row


class Chunk(NamedTuple):
    """Rows of a table, in its order.

    `places` has `line: UInt32`, `text: String` (the record), and `fault: String` (why the row has
    no values, or null); `values` the columns under our names, all text and never null.
    """

    places: pl.DataFrame
    values: pl.DataFrame

    @classmethod
    def of(
        cls, lines: Iterable[int], texts: list[str], faults: list[str | None], values: pl.DataFrame
    ) -> Chunk:
        """Put a chunk together."""
        schema = {"line": pl.UInt32, "text": pl.String, "fault": pl.String}
        return cls(pl.DataFrame([list(lines), texts, faults], schema=schema), values)

    @property
    def good(self) -> pl.DataFrame:
        """The values of the rows without a fault."""
        return self.values.filter(self.places["fault"].is_null())

    def rows(self, file: str) -> Iterator[tuple[Row, str | None]]:
        """Yield each row of the file of that name, and its fault."""
        names = self.values.columns
        for place, values in zip(self.places.iter_rows(), self.values.iter_rows(), strict=True):
            line, text, fault = place
            yield Row(file, line, text, dict(zip(names, values, strict=True))), fault
