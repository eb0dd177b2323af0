"""Frames at the edge: schemas are checked on writing and reading, files appear whole; hashes.

Every Parquet file has the same compression and row-group size, so equal frames give equal bytes.
The hashes tell whether files and texts have equal content.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from models.reproducibility import atomic_write

ROW_GROUP = 131_072
Schema = Mapping[str, pl.DataType | type[pl.DataType]]


class SchemaError(ValueError):
    """A frame does not have the columns or types that its schema names."""


def check(frame: pl.DataFrame, schema: Schema, name: str) -> pl.DataFrame:
    """Return `frame` with exactly the columns of `schema`, in its order.

    Raises:
        SchemaError: a column is missing, superfluous or of another type; all are named.
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
    """Read a stage's Parquet file and check it.

    Raises:
        FileNotFoundError: the stage that writes it has not run.
        SchemaError: it is not what `schema` says.
    """
    return check(read_parquet(path), schema, str(path))


def read_parquet(path: Path) -> pl.DataFrame:
    """Read a stage's Parquet file unchecked, for readers that need some of its columns.

    Raises:
        FileNotFoundError: the stage that writes it has not run.
    """
    return pl.read_parquet(written(path))


def read_json(path: Path) -> Any:  # noqa: ANN401
    """Read what `write_json` wrote; FileNotFoundError if its stage has not run."""
    return json.loads(written(path).read_text(encoding="utf-8"))


def write_json(value: object, path: Path) -> None:
    """Write `value` as JSON with sorted keys, whole or not at all."""
    with atomic_write(path) as partial:
        partial.write_text(
            json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False) + "\n", encoding="utf-8"
        )


def text_hash(text: str) -> str:
    """Return a short hash, which tells texts apart."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file, which need not fit into memory."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def md5(path: Path) -> str:
    """Return the MD5 of a file as DVC writes it, or `missing`."""
    if not path.is_file():
        return "missing"
    return hashlib.md5(path.read_bytes(), usedforsecurity=False).hexdigest()


def taxonomy_hash(aliases: pl.DataFrame, occupations: pl.DataFrame) -> str:
    """Hash all possible answers: titles and occupations, without labels' order or splits."""
    titles = sorted(aliases.select("occupation_id", "title").rows())
    labels = sorted(occupations.select("occupation_id", "occupation_label").rows())
    text = json.dumps([titles, labels], ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def content_hash(files: Iterable[Path], settings: str) -> str:
    """Return the SHA-256 of the names and contents of files, in their order, and of `settings`."""
    digest = hashlib.sha256(settings.encode())
    for path in files:
        content = path.read_bytes()
        digest.update(f"{path.name}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()


def written(path: Path) -> Path:
    """Return the path of a stage's file; FileNotFoundError if the stage has not run."""
    if not path.is_file():
        raise FileNotFoundError(f"{path} is missing: run `dvc repro` for the stage that writes it")
    return path
