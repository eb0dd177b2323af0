"""The SHA-256 of every file of a model package, and the refusal of files that have another one.

`SHA256SUMS` has the form that `sha256sum` writes and checks, with paths from the package's folder.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

CHECKSUMS = "SHA256SUMS"
CODE = "../../serving.py"
"""Where MLflow puts the code that serves a package, from the package's folder."""


def sha256(file: Path) -> str:
    """Return a file's SHA-256, in hexadecimal digits."""
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def check_files(folder: Path, code: Path | None = None) -> None:
    """Compare the files of a package with its checksums.

    `code`: the file that serves it; None leaves its line out.

    Raises:
        ValueError: a file is missing or altered, or there are no checksums.
    """
    sums = folder / CHECKSUMS
    if not sums.is_file():
        raise ValueError(
            f"{sums} is missing: download the model again, or run `rolecall retrain` if an earlier "
            "version of rolecall registered it"
        )
    for line in sums.read_text(encoding="utf-8", errors="replace").splitlines():
        digest, _, name = line.partition("  ")
        file = folder / name if name != CODE else code
        if file is not None and (not file.is_file() or sha256(file) != digest):
            raise ValueError(
                f"{file} is not the file that was registered, by its SHA-256 in {CHECKSUMS}: "
                "download the model again"
            )
