"""Packed tables are read like others; files that cannot be opened or unpacked are named."""

import gzip
import os
import zipfile
from pathlib import Path

import pytest

from tasks.tables.read_table import read_rows
from tasks.tables.rejected import RejectedRows
from tasks.tables.source_files import IngestError, SourceFile

CSV = b"title,id\nnurse,1\n"


def titles(path: Path) -> list[str]:
    return [row["t"] for row in read_rows(path, {"t": "title"}, "From us.", RejectedRows())]


def zipped(path: Path, files: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


def test_gzip_and_zip_hold_a_table(tmp_path: Path) -> None:
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(CSV))
    assert titles(tmp_path / "a.csv.gz") == ["nurse"]
    more = {"__MACOSX/._a.csv": b"x", ".x.csv": b"x", "README.md": b"x"}
    for name, content in {"a.csv": CSV, "f/a.csv.gz": gzip.compress(CSV)}.items():
        assert titles(zipped(tmp_path / "a.zip", {name: content, **more})) == ["nurse"]


def test_a_packed_file_is_read_more_than_once(tmp_path: Path) -> None:
    file = SourceFile.at(zipped(tmp_path / "a.zip", {"a.csv": CSV * 200_000}), "")
    assert [sum(map(len, file.blocks())) for _ in range(2)] == [len(CSV) * 200_000] * 2
    head = next(file.beginning().blocks())
    assert head.endswith(b"\n") and (CSV * 200_000).startswith(head)
    with file.open() as handle:
        handle.seek(6)
        assert handle.read(2) == CSV[6:8]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.csv.gz", gzip.compress(CSV * 9, mtime=0)[:-9], "cannot be read: Compressed file ended"),
        ("a.csv.gz", CSV, "cannot be read: Not a gzipped file"),
        ("a.zip", b"PK\x03\x04", "no readable zip archive: File is not a zip file"),
        ("a.parquet", b"PAR1", "no readable Parquet file"),
        ("a.xlsx", b"PK\x03\x04", "no readable workbook"),
    ],
)
def test_damaged_files_are_named(tmp_path: Path, name: str, content: bytes, said: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(IngestError, match=rf"{name} .*{said}"):
        titles(tmp_path / name)


def test_an_archive_without_a_table_or_with_several(tmp_path: Path) -> None:
    with pytest.raises(IngestError, match=r"a\.zip holds no file that ends in \.csv"):
        titles(zipped(tmp_path / "a.zip", {"x.md": b"x"}))
    message = r"holds 2 tables \(a\.csv, b\.csv\): unpack it\. From us"
    with pytest.raises(IngestError, match=message):
        titles(zipped(tmp_path / "a.zip", {"b.csv": CSV, "a.csv": CSV}))


def test_an_encrypted_archive_is_named(tmp_path: Path) -> None:
    """The flag of the only entry is set where both headers of the archive hold it."""
    content = bytearray(zipped(tmp_path / "a.zip", {"a.csv": CSV}).read_bytes())
    for beginning, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(beginning) + place] |= 1
    (tmp_path / "a.zip").write_bytes(content)
    with pytest.raises(IngestError, match=r"a\.csv in it is encrypted"):
        titles(tmp_path / "a.zip")


def test_what_is_no_file_is_named(tmp_path: Path) -> None:
    """A pipe was said to be missing."""
    os.mkfifo(tmp_path / "pipe.csv")
    for path, message in (
        (tmp_path / "absent.csv", r"absent\.csv is missing\. From us\."),
        (tmp_path / "pipe.csv", r"pipe\.csv is a pipe: name a regular file\. From us\."),
        (tmp_path, "is a folder: name the file in it"),
    ):
        with pytest.raises(IngestError, match=message):
            titles(path)
