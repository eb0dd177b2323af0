"""Source files: which ones a reader needs, and what to do if one is missing."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, NamedTuple

from tasks.io.regular_files import file_fault
from tasks.tables.encodings import utf_16
from tasks.tables.packed import DAMAGED, gunzipped, is_hidden, members

OTHER_KINDS = {  # of file, by how they begin, and what to do
    b"PK\x03\x04": "an Excel workbook or a zip archive: let its name end in .xlsx or .zip",
    b"\xd0\xcf\x11\xe0": "an old or encrypted Excel workbook: save it as .xlsx, without a password",
    b"\x1f\x8b": "packed with gzip: let its name end in .gz",
    b"%PDF": "a PDF: save the table as CSV (UTF-8)",
    b"PAR1": "a Parquet file: let its name end in .parquet",
}
BLOCK = 1 << 20
"""Bytes that are read at once."""
NULS = 0.2  # share of the first bytes that only binary files have
PARQUET, JSON_LINES, WORKBOOKS = (".parquet", ".pq"), (".jsonl", ".ndjson"), (".xlsx", ".xlsm")
"""How the names of such files end; any other table is delimited text."""
TABLES = (".csv", ".tsv", *JSON_LINES, *WORKBOOKS, *PARQUET)
GZIP, ZIP = ".gz", ".zip"


class IngestError(ValueError):
    """An outside file, or the taxonomy in it, is not what the stage can work with."""


class SourceFile(NamedTuple):
    """A file, here or on another file system: its path for messages, its name for frames.

    `open` opens its content, unpacked.
    """

    path: str
    name: str
    open: Callable[[], BinaryIO]

    @classmethod
    def at(cls, path: Path | SourceFile, origin: str) -> SourceFile:
        """Return the file at a path, or the only table of the archive there.

        Raises:
            IngestError: there is none, or several; it ends with `origin`.
        """
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
        return self.suffix not in (*WORKBOOKS, *PARQUET)

    @property
    def is_delimited(self) -> bool:
        """Tell by its name whether it is delimited text, as any is that is named for no other."""
        return self.is_text and self.suffix not in JSON_LINES

    def unpacked(self, origin: str) -> list[SourceFile]:
        """Return the tables in it, by name: those of a zip archive, or itself.

        Raises:
            IngestError: it is a zip archive that is damaged, or holds no table.
        """
        if self.name.lower().endswith(GZIP):
            return [self._replace(open=gunzipped(self.open))]
        if not self.name.lower().endswith(ZIP):
            return [self]
        try:
            found = members(self.open)
        except DAMAGED as error:
            raise IngestError(
                f"{self.path} is no readable zip archive: {error}. {origin}"
            ) from None
        files = [
            SourceFile(f"{self.path}/{name}", f"{self.name}/{name}", open_member)
            for name, open_member in found
            if is_table(name) and not name.lower().endswith(ZIP)
        ]
        if not files:
            raise IngestError(
                f"{self.path} holds no file that ends in {', '.join(TABLES)}. {origin}"
            )
        return [inner for file in files for inner in file.unpacked(origin)]

    def blocks(self) -> Iterator[bytes]:
        """Read it in blocks; an empty file has none.

        Raises:
            IngestError: it is damaged.
        """
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
        return self._replace(open=lambda: BytesIO(head))


def is_table(name: str) -> bool:
    """Tell by its name whether a file is a table, packed or not, and not hidden."""
    ends = name.lower().removesuffix(GZIP).endswith(TABLES) or name.lower().endswith(ZIP)
    return ends and not is_hidden(name)


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
    """Refuse a file that is no text in an encoding without NULs.

    Raises:
        IngestError: naming what it seems to be, and what to do.
    """
    head = next(file.blocks(), b"")
    for beginning, kind in OTHER_KINDS.items():
        if head.startswith(beginning):
            raise IngestError(f"{file.path} is {kind}. {origin}")
    if head.count(0) > NULS * len(head) and not utf_16(head):
        raise IngestError(
            f"{file.path} is binary, or in an unusual encoding: save it as UTF-8, or name its "
            f"encoding. {origin}"
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
