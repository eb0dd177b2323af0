"""Raw inputs, some with their occupation: tables, files of one title a line, or none.

They are kept as received, in their order. Identical rows are no duplicates: their frequency is
data.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from pathlib import Path

import polars as pl

from tasks.io.schemas import INPUTS
from tasks.pipeline.ingest.params import InputsParams
from tasks.tables.cells import whole_number
from tasks.tables.read_table import read_rows
from tasks.tables.rejected import UNKNOWN_OCCUPATION, RejectedRows, Row, empty
from tasks.tables.source_files import mapped_columns
from tasks.tables.text import line_rows

ORIGIN = (
    "It is the file that ingest.inputs.file names: correct the name, or columns, delimiter or "
    "encoding of ingest.inputs; a profile brings files under `external:`."
)


def read_inputs(
    params: InputsParams, known: Container[str], rejected: RejectedRows
) -> pl.DataFrame:
    """Read columns of `INPUTS`; `input_id` counts the accepted rows, from 0.

    A row whose occupation is none of `known`, the taxonomy's, is refused; `2231.0` is the id
    `2231`, unless it is one itself.
    """
    taken: list[tuple[int, str, str | None]] = []
    for row in _rows(params, rejected):
        occupation_id = row.values.get("occupation_id", "").strip()
        if occupation_id not in known:
            occupation_id = whole_number(occupation_id)
        if not row["raw_title"]:
            rejected.refuse(row, empty("raw_title"))
        elif occupation_id and occupation_id not in known:
            rejected.refuse(row, UNKNOWN_OCCUPATION)
        else:
            taken.append((len(taken), row.values["raw_title"], occupation_id or None))
    return pl.DataFrame(taken, schema=INPUTS, orient="row")


def _rows(params: InputsParams, rejected: RejectedRows) -> Iterator[Row]:
    if params.reader == "none":
        return
    if params.reader == "lines":
        for file in params.files:
            yield from line_rows(Path(file), "raw_title", ORIGIN, rejected, params.encoding)
        return
    columns = mapped_columns(
        params.columns, "ingest.inputs.columns", ["raw_title"], ["occupation_id"]
    )
    for file in params.files:
        yield from read_rows(Path(file), columns, ORIGIN, rejected, params.format)
