"""Packed files to streams of their content: gzip, and the files in a zip archive.

A stream is opened anew for each reading, and can be read from any place on.
"""

from __future__ import annotations

import gzip
import io
import zipfile
import zlib
from collections.abc import Callable
from functools import partial
from pathlib import PurePosixPath
from typing import BinaryIO, cast

DAMAGED = (OSError, EOFError, zlib.error, zipfile.BadZipFile, NotImplementedError)
"""Errors of a file that is damaged, or packed in an unknown way."""

Open = Callable[[], BinaryIO]


def gunzipped(open_file: Open) -> Open:
    """Return what opens the content of a gzip file."""

    def opened() -> BinaryIO:
        handle = open_file()
        return _Content(gzip.GzipFile(fileobj=handle), handle)

    return opened


def members(open_file: Open) -> list[tuple[str, Open]]:
    """Return name and opener of each file in a zip archive, by name, no hidden ones.

    Raises:
        One of `DAMAGED`: it is none, or it is encrypted.
    """
    with open_file() as handle, zipfile.ZipFile(handle) as archive:
        infos = sorted(archive.infolist(), key=lambda info: info.filename)
    files = [info for info in infos if not info.is_dir() and not is_hidden(info.filename)]
    if encrypted := [info.filename for info in files if info.flag_bits & 1]:
        raise OSError(f"{encrypted[0]} in it is encrypted")
    return [(info.filename, partial(_member, open_file, info)) for info in files]


def is_hidden(name: str) -> bool:
    """Tell whether a path below a folder is no data: `.name`, `_name`, or in such a folder.

    Excel keeps a `~$name` beside a workbook while somebody has it open.
    """
    return any(part.startswith((".", "_", "~$")) for part in PurePosixPath(name).parts)


class _Content(io.BufferedReader):
    """A stream of unpacked bytes, which closes the packed file with it."""

    def __init__(self, unpacked: io.BufferedIOBase, packed: BinaryIO) -> None:
        super().__init__(unpacked)
        self._packed = packed

    def close(self) -> None:
        super().close()
        self._packed.close()


def _member(open_file: Open, info: zipfile.ZipInfo) -> BinaryIO:
    handle = open_file()
    archive = zipfile.ZipFile(handle)  # it stays open with its member
    member = cast(io.BufferedIOBase, archive.open(info))
    return _Content(member, handle)
