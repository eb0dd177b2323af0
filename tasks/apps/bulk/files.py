"""Files of an input, by fsspec: found, opened, or refused with a message."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple
from urllib.parse import unquote

from fsspec.implementations.local import LocalFileSystem

from tasks.io.hashes import text_hash
from tasks.io.regular_files import file_fault
from tasks.tables.packed import is_hidden
from tasks.tables.source_files import GZIP, TABLES, ZIP, SourceFile

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

PLAIN = (*TABLES, ".txt")
KINDS = (*PLAIN, *(suffix + GZIP for suffix in PLAIN), ZIP)
NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
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
        if not is_hidden(name) and name.lower().endswith(KINDS):
            any_file = True
            if isinstance(system, LocalFileSystem) and (fault := file_fault(Path(file_path))):
                raise SourceError(f"{fault}: only regular files are read")
            stamp = next((info[key] for key in STAMPS if key in info), "")
            yield File(name, file_path, int(info["size"] or 0), str(stamp))
    if not any_file:
        kinds = ", ".join(PLAIN)
        raise SourceError(
            f"{address}: no file that ends in {kinds}, packed with gzip or zip or not"
        )


def shard_of(files: Iterable[File], shard: str, address: str) -> list[File]:
    """Return every n-th file for a shard i/n, from the i-th on; all of them if none is named.

    Raises:
        SourceError: it is no such shard, or it has no file.
    """
    number, _, count = (shard or "1/1").partition("/")
    if not (number.isdecimal() and count.isdecimal() and 1 <= int(number) <= int(count)):
        raise SourceError(f"shard {shard!r}: the second of eight is 2/8")
    own = [*islice(files, int(number) - 1, None, int(count))]
    if not own:
        raise SourceError(f"{address} has fewer files than shards: none is left for {shard}")
    return own


def state_of(files: Sequence[File]) -> str:
    """Return a hash that differs for other files, and for these after a change."""
    return text_hash(json.dumps(files))


def tables_in(system: AbstractFileSystem, file: File) -> list[SourceFile]:
    """Return the tables of a file, those of a zip archive by name; IngestError if damaged."""

    def opened() -> BinaryIO:
        handle: BinaryIO = system.open(file.path, "rb")
        return handle

    return SourceFile(file.path, file.name, opened).unpacked("")


def partition(name: str) -> dict[str, str | None]:
    """Return the columns that the folders of a file name, as Hive does: ``year=2023/x.parquet``."""
    pairs = (folder.partition("=") for folder in name.split("/")[:-1])
    return {
        unquote(key): None if value == NO_VALUE else unquote(value)
        for key, equals, value in pairs
        if key and equals
    }
