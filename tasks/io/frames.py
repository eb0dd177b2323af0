"""Frames at the edge: schemas are checked on writing and reading, files appear whole.

Every Parquet file has the same compression and row-group size, so equal frames give equal bytes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

import polars as pl

from models.reproducibility import atomic_write
from tasks.io.files import written

ROW_GROUP = 131_072
Schema = Mapping[str, pl.DataType | type[pl.DataType]]


class SchemaError(ValueError):
    """A frame does not have the columns or types that its schema names."""


def check(frame: pl.DataFrame, schema: Schema, name: str) -> pl.DataFrame:
    """Return `frame` with exactly the columns of `schema`, in its order.

    A SchemaError names all columns that are missing, superfluous or of another type.
    """
    wrong = [
        f"{column}: {frame.schema.get(column, 'missing')}, expected {expected}"
        for column, expected in schema.items()
        if frame.schema.get(column) != expected
    ]
    wrong += [f"{column}: not expected" for column in frame.columns if column not in schema]
    if wrong:
        raise SchemaError(f"{name}: {'; '.join(wrong)}. Rerun the stage that writes it.")
    return frame.select(list(schema))


def write_frame(frame: pl.DataFrame, path: Path, schema: Schema) -> None:
    """Check `frame` against `schema` and write it as Parquet, whole or not at all."""
    with atomic_write(path) as partial:
        check(frame, schema, str(path)).write_parquet(
            partial, compression="zstd", compression_level=3, row_group_size=ROW_GROUP
        )


def read_frame(path: Path, schema: Schema) -> pl.DataFrame:
    """Read a stage's Parquet file and `check` it; FileNotFoundError if the stage has not run."""
    return check(read_parquet(path), schema, str(path))


def read_parquet(path: Path) -> pl.DataFrame:
    """Read a stage's Parquet file unchecked; FileNotFoundError if the stage has not run."""
    return pl.read_parquet(written(path))


def taxonomy_hash(aliases: pl.DataFrame, occupations: pl.DataFrame) -> str:
    """Hash all possible answers: titles and occupations, without labels' order or splits."""
    titles = sorted(aliases.select("occupation_id", "title").rows())
    labels = sorted(occupations.select("occupation_id", "occupation_label").rows())
    text = json.dumps([titles, labels], ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()
