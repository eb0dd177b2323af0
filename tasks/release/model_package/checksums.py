"""Writes the checksums of a model package, whenever one of its files is written."""

from __future__ import annotations

from pathlib import Path

from models.normalizer.package_checksums import CHECKSUMS, CODE, sha256
from models.reproducibility.atomic_write import write_bytes


def write_checksums(folder: Path, code: Path | None = None) -> None:
    """Write `SHA256SUMS` of all files of a package, and of the file that serves it, if given."""
    files = {file.name: file for file in folder.iterdir() if file.name != CHECKSUMS}
    files |= {CODE: code} if code else {}
    lines = (f"{sha256(file)}  {name}\n" for name, file in sorted(files.items()))
    write_bytes("".join(lines).encode(), folder / CHECKSUMS)
