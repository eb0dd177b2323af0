"""Source files: which ones a reader needs, and what to do if one is missing."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO, NamedTuple

from tasks.tables.encodings import UTF_16

OTHER_KINDS = {  # of file, by how they begin, and what to do
    b"PK\x03\x04": "an Excel workbook or another zip archive: save the sheet as CSV (UTF-8)",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook: save the sheet as CSV (UTF-8)",
    b"\x1f\x8b": "packed with gzip: unpack it",
    b"%PDF": "a PDF: save the table as CSV (UTF-8)",
    b"PAR1": "a Parquet file: let its name end in .parquet",
}
BLOCK = 1 << 20
"""Bytes that are read at once."""
NULS = 0.2  # share of the first bytes that only UTF-16 and binary files have
PARQUET = (".parquet", ".pq")
"""How the names of Parquet files end; any other table is delimited text."""


class IngestError(ValueError):
    """An outside file, or the taxonomy in it, is not what the stage can work with."""


class SourceFile(NamedTuple):
    """A file, here or on another file system: its path for messages, its name for frames."""

    path: str
    name: str
    open: Callable[[], BinaryIO]

    @classmethod
    def at(cls, path: Path | SourceFile, origin: str) -> SourceFile:
        """Return the file at a path; IngestError, which ends with `origin`, if there is none."""
        if isinstance(path, SourceFile):
            return path
        if path.is_dir():
            raise IngestError(f"{path} is a folder: name the file in it. {origin}")
        if not path.is_file():
            raise IngestError(f"{path} is missing. {origin}")
        return cls(str(path), display_path(path), lambda: path.open("rb"))

    @property
    def is_parquet(self) -> bool:
        """Tell by the name whether it is Parquet."""
        return self.name.lower().endswith(PARQUET)

    def blocks(self) -> Iterator[bytes]:
        """Read it in blocks; an empty file has none."""
        with self.open() as handle:
            while block := handle.read(BLOCK):
                yield block


def display_path(path: Path) -> str:
    """Return how frames and messages name `path`: as given if relative, else its last part.

    So no frame holds a folder of one machine, and two machines write the same bytes.
    """
    return path.name if path.is_absolute() else path.as_posix()


def named_files(
    files: Mapping[str, str], required: Collection[str], optional: Collection[str] = ()
) -> dict[str, Path]:
    """Return `ingest.taxonomy.files` as paths; IngestError for an absent or unknown name."""
    allowed = f"this reader takes {sorted(required)} and, if wanted, {sorted(optional)}"
    _require_names(files, required, optional, "ingest.taxonomy.files", allowed)
    return {name: Path(file) for name, file in files.items()}


def mapped_columns(
    columns: Mapping[str, str], where: str, required: Collection[str], optional: Collection[str]
) -> dict[str, str]:
    """Check a column map (our name -> the file's); IngestError for an absent or unknown name."""
    allowed = (
        f"map {sorted(required)} and, if the file has them, {sorted(optional)} to the file's "
        "columns"
    )
    _require_names(columns, required, optional, where, allowed)
    return dict(columns)


def _require_names(
    names: Mapping[str, str],
    required: Collection[str],
    optional: Collection[str],
    where: str,
    allowed: str,
) -> None:
    absent = sorted(set(required) - names.keys())
    unknown = sorted(names.keys() - {*required, *optional})
    if absent or unknown:
        raise IngestError(f"{where}: missing {absent}, unknown {unknown}; {allowed}")


def require_text(file: SourceFile, origin: str) -> None:
    """Refuse a file that is no text in an encoding without NULs, UTF-16 with its mark aside.

    Raises:
        IngestError: naming what it seems to be, and what to do.
    """
    head = next(file.blocks(), b"")
    for beginning, kind in OTHER_KINDS.items():
        if head.startswith(beginning):
            raise IngestError(f"{file.path} is {kind}. {origin}")
    if head[:2] not in UTF_16 and head.count(0) > NULS * len(head):
        raise IngestError(
            f"{file.path} is binary, or UTF-16 without its byte order mark: save it as UTF-8, or "
            f"name its encoding (utf-16-le, utf-16-be). {origin}"
        )


def require_columns(
    present: Sequence[str], needed: Collection[str], path: str, origin: str
) -> None:
    """Refuse a file that lacks needed columns, or has one twice; the IngestError names them."""
    absent = [name for name in needed if name not in present]
    if absent:
        raise IngestError(f"{path} has no column {absent}, only {present}. {origin}")
    twice = [name for name in needed if present.count(name) > 1]
    if twice:
        raise IngestError(f"{path} has the column {twice} more than once. {origin}")
