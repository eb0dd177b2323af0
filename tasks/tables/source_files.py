"""Source files: which ones a reader needs, of which kind each is, and how it is unpacked.

The end of a file's name tells its kind. Files packed with gzip, and the tables in a zip archive,
are read like others.
"""

from __future__ import annotations

import gzip
import io
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from pathlib import Path, PurePosixPath
from typing import BinaryIO, NamedTuple, cast

from tasks.io.regular_files import file_fault

BLOCK = 1 << 20  # bytes that are read at once
PARQUET, JSON_LINES, WORKBOOKS = (".parquet", ".pq"), (".jsonl", ".ndjson"), (".xlsx", ".xlsm")
BINARY = (*WORKBOOKS, *PARQUET)  # how names end; any other table is delimited text
TABLES = (".csv", ".tsv", *JSON_LINES, *BINARY)
GZIP, ZIP = ".gz", ".zip"
# errors of a file that is damaged, or packed in an unknown way
DAMAGED = (OSError, EOFError, zlib.error, zipfile.BadZipFile, NotImplementedError)


class IngestError(ValueError):
    """An outside file, or the taxonomy in it, is not what the stage can work with."""


class SourceFile(NamedTuple):
    """A file, here or on another file system."""

    path: str  # for messages
    name: str  # for frames
    open: Callable[[], BinaryIO]  # its content, unpacked

    @classmethod
    def at(cls, path: Path | SourceFile, origin: str) -> SourceFile:
        """Return the file at a path, or the only table of the archive there; else IngestError."""
        if isinstance(path, SourceFile):
            return path
        if path.is_dir():
            raise IngestError(f"{path} is a folder: name the file in it. {origin}")
        if fault := file_fault(path):
            raise IngestError(f"{fault}: name a regular file. {origin}")
        if not path.is_file():
            raise IngestError(f"{path} is missing. {origin}")
        files = cls(str(path), display_path(path), lambda: path.open("rb")).unpacked(origin)
        if len(files) > 1:
            names = ", ".join(file.name.removeprefix(f"{path.name}/") for file in files[:5])
            raise IngestError(f"{path} holds {len(files)} tables ({names}): unpack it. {origin}")
        return files[0]

    @property
    def suffix(self) -> str:
        """The end of its name, which tells the kind, without `GZIP`."""
        return Path(self.name.lower().removesuffix(GZIP)).suffix

    @property
    def is_text(self) -> bool:
        """Tell by its name whether it is text: delimited, JSON Lines, or one title a line."""
        return self.suffix not in BINARY

    @property
    def is_delimited(self) -> bool:
        """Tell by its name whether it is delimited text, as any is that is named for no other."""
        return self.is_text and self.suffix not in JSON_LINES

    def unpacked(self, origin: str) -> list[SourceFile]:
        """Return the tables in it, by name: itself, or those of a zip archive; else IngestError."""
        if self.name.lower().endswith(GZIP):
            return [self._replace(open=partial(_content, self.open, None))]
        if not self.name.lower().endswith(ZIP):
            return [self]
        try:
            with self.open() as handle, zipfile.ZipFile(handle) as archive:
                members = sorted(archive.infolist(), key=lambda member: member.filename)
        except DAMAGED as error:
            fault = f"{self.path} is no readable zip archive: {error}. {origin}"
            raise IngestError(fault) from None
        files = list[SourceFile]()
        for member in members:
            name = member.filename
            if member.flag_bits & 1 and not is_hidden(name):
                raise IngestError(f"{self.path}: {name} in it is encrypted. {origin}")
            if is_table(name) and not name.lower().endswith(ZIP):
                open_member = partial(_content, self.open, member)
                file = SourceFile(f"{self.path}/{name}", f"{self.name}/{name}", open_member)
                files += file.unpacked(origin)
        if not files:
            kinds = ", ".join(TABLES)
            raise IngestError(f"{self.path} holds no file that ends in {kinds}. {origin}")
        return files

    def blocks(self) -> Iterator[bytes]:
        """Read it in blocks; an empty file has none. IngestError if it is damaged."""
        try:
            with self.open() as handle:
                while block := handle.read(BLOCK):
                    yield block
        except DAMAGED as error:
            raise IngestError(f"{self.path} cannot be read: {error}") from None

    def beginning(self, lines: int = 1) -> SourceFile:
        """Return the first block, or more until it has so many lines, as a file of whole lines."""
        parts, ends = list[bytes](), 0
        for block in self.blocks():
            parts.append(block)
            ends += block.count(b"\n")
            if len(block) >= BLOCK and (lines == 1 or ends >= lines):
                parts[-1] = block[: block.rfind(b"\n") + 1] or block
                break
        head = b"".join(parts)
        return self._replace(open=lambda: io.BytesIO(head))


def is_table(name: str) -> bool:
    """Tell by its name whether a file is a table, packed or not, and not hidden."""
    ends = name.lower().removesuffix(GZIP).endswith(TABLES) or name.lower().endswith(ZIP)
    return ends and not is_hidden(name)


def display_path(path: Path) -> str:
    """Name `path` alike on any machine: as given if relative, else by its last part."""
    return path.name if path.is_absolute() else path.as_posix()


def named_files(
    files: Mapping[str, str], required: Collection[str], optional: Collection[str] = ()
) -> dict[str, Path]:
    """Return `ingest.taxonomy.files` as paths; IngestError for an absent or unknown name."""
    named = mapped_columns(files, "ingest.taxonomy.files", required, optional, "this reader takes")
    return {name: Path(file) for name, file in named.items()}


def mapped_columns(
    columns: Mapping[str, str],
    where: str,
    required: Collection[str],
    optional: Collection[str],
    advice: str = "map the file's columns to",
) -> dict[str, str]:
    """Check a column map (our name -> the file's); IngestError for an absent or unknown name."""
    absent = sorted(set(required) - columns.keys())
    unknown = sorted(columns.keys() - {*required, *optional})
    if absent or unknown:
        raise IngestError(
            f"{where}: missing {absent}, unknown {unknown}; {advice} {sorted(required)} and, if "
            f"wanted, {sorted(optional)}"
        )
    return dict(columns)


def is_hidden(name: str) -> bool:
    """Tell whether a path is no data: `.name`, `_name`, Excel's `~$name`, or in such a folder."""
    return any(part.startswith((".", "_", "~$")) for part in PurePosixPath(name).parts)


class _Content(io.BufferedReader):
    """A stream of unpacked bytes, which closes the packed file with it."""

    def __init__(self, unpacked: io.BufferedIOBase, packed: BinaryIO) -> None:
        super().__init__(unpacked)
        self._packed = packed

    def close(self) -> None:
        super().close()
        self._packed.close()


def _content(open_packed: Callable[[], BinaryIO], member: zipfile.ZipInfo | None) -> BinaryIO:
    """Open what a gzip file holds, or a member of a zip archive."""
    packed = open_packed()
    if member is None:
        return _Content(gzip.GzipFile(fileobj=packed), packed)
    archive = zipfile.ZipFile(packed)  # it stays open with its member
    return _Content(cast(io.BufferedIOBase, archive.open(member)), packed)
