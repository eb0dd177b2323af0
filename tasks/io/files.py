"""Files of a stage that are no tables: JSON, and hashes that tell whether contents are equal."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from models.reproducibility import write_bytes


def read_json(path: Path) -> Any:  # noqa: ANN401
    """Read what `write_json` wrote; FileNotFoundError if its stage has not run."""
    return json.loads(written(path).read_text(encoding="utf-8"))


def write_json(value: object, path: Path) -> None:
    """Write `value` as JSON with sorted keys, whole or not at all."""
    text = json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
    write_bytes(text.encode(), path)


def written(path: Path) -> Path:
    """Return the path of a stage's file; FileNotFoundError if the stage has not run."""
    if not path.is_file():
        raise FileNotFoundError(f"{path} is missing: run `dvc repro` for the stage that writes it")
    return path


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


def content_hash(files: Iterable[Path], settings: str) -> str:
    """Return the SHA-256 of the names and contents of files, in their order, and of `settings`."""
    digest = hashlib.sha256(settings.encode())
    for path in files:
        content = path.read_bytes()
        digest.update(f"{path.name}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()
