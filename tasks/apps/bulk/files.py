"""Files of an input, by fsspec: found, opened, or refused with a message."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

import fsspec
from fsspec.implementations.local import LocalFileSystem

from tasks.io.hashes import text_hash
from tasks.io.regular_files import file_fault
from tasks.tables.source_files import PARQUET

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

KINDS = (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz", *PARQUET)
STAMPS = ("ETag", "etag", "mtime", "LastModified")
"""Names that file systems give to the version of a file."""


class SourceError(ValueError):
    """An input that cannot be read; the message says which, and how to repair it."""


class File(NamedTuple):
    """A file of the input: its name below the address, its size, and what tells its versions."""

    name: str
    path: str
    size: int
    version: str


class Refused(NamedTuple):
    """A row that cannot be read: its file, the line it starts on, and why."""

    file: str
    line: int
    reason: str
    row: str


def files_at(system: AbstractFileSystem, path: str, address: str) -> Iterator[File]:
    """Yield the files of `KINDS` at a path, by name, no hidden ones; SourceError if none."""
    if not system.exists(path):
        raise SourceError(f"no file or folder {address}")
    infos = system.find(path, detail=True) if system.isdir(path) else {path: system.info(path)}
    base = path.rstrip("/")
    any_file = False
    for file_path, info in sorted(infos.items()):
        name = file_path[len(base) :].lstrip("/") or file_path.rpartition("/")[2]
        name = name.partition("?")[0] if "://" in file_path else name  # a query may be a signature
        hidden = any(part.startswith((".", "_")) for part in name.split("/"))
        if not hidden and name.lower().endswith(KINDS):
            any_file = True
            if isinstance(system, LocalFileSystem) and (fault := file_fault(Path(file_path))):
                raise SourceError(f"{fault}: only regular files are read")
            stamp = next((info[key] for key in STAMPS if key in info), "")
            yield File(name, file_path, int(info["size"] or 0), str(stamp))
    if not any_file:
        raise SourceError(f"{address}: no file that ends in {', '.join(KINDS)}")


def state_of(files: Sequence[File]) -> str:
    """Return a hash that differs for other files, and for these after a change."""
    return text_hash(json.dumps(files))


def opened(system: AbstractFileSystem, file: File) -> BinaryIO:
    """Open a file for reading, unpacked; SourceError if that fails."""
    packed = file.name.lower().endswith(".gz")
    try:
        opened = fsspec.core.OpenFile(system, file.path, compression="gzip" if packed else None)
        handle: BinaryIO = opened.open()
    except OSError as error:
        raise SourceError(f"{file.path} cannot be opened: {error}") from None
    return handle
