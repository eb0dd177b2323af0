"""Hashes of files and texts, by which equal content is known."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path

import polars as pl


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


def taxonomy_hash(aliases: pl.DataFrame, occupations: pl.DataFrame) -> str:
    """Hash all possible answers: titles and occupations, without labels' order or splits."""
    titles = sorted(aliases.select("occupation_id", "title").rows())
    labels = sorted(occupations.select("occupation_id", "occupation_label").rows())
    text = json.dumps([titles, labels], ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def content_hash(files: Iterable[Path], settings: str) -> str:
    """Return the SHA-256 of the names and contents of files, in their order, and of `settings`."""
    digest = hashlib.sha256(settings.encode())
    for path in files:
        content = path.read_bytes()
        digest.update(f"{path.name}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()
