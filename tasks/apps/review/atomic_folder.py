"""A folder that is there whole or not at all: made beside its place, renamed at the end."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

UNFINISHED = ".unfinished"


@contextmanager
def atomic_folder(place: Path) -> Iterator[Path]:
    """Yield a new folder beside `place`, which takes its name on success and is removed on failure.

    What a killed run left of it is removed first.

    Raises:
        ValueError: the place is taken.
    """
    if place.exists():
        raise ValueError(f"{place} is there already: name another place, or remove it")
    folder = place.with_name(place.name + UNFINISHED)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        yield folder
        folder.rename(place)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
