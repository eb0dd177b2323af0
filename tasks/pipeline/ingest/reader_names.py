"""The names that `ingest.taxonomy.reader` may have: the modules of `taxonomies/`."""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).with_name("taxonomies")


def checked_reader(name: str) -> str:
    """Return `name`.

    Raises:
        ValueError: no module reads this format; the message lists the readers.
    """
    names = sorted(path.stem for path in FOLDER.glob("[!_]*.py"))
    if name not in names:
        raise ValueError(f"{name!r} is no reader of taxonomies; choose {', '.join(names)}")
    return name
