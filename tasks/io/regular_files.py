"""Which files may be opened: regular ones, that no link leads to from outside of their folder.

A pipe or a device would never end, and a link in a folder that others may write would give out any
file. Nothing is opened here.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

KINDS = {
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def file_fault(path: Path, within: Path | None = None) -> str:
    """Say why a path must not be opened; empty for a regular file, a folder, or nothing.

    `within`: a folder that links must not lead out of, if there is one.
    """
    try:
        mode = path.stat().st_mode
        real = path.resolve(strict=True)
    except FileNotFoundError:
        return f"{path} is a link to nothing" if path.is_symlink() else ""
    except (OSError, RuntimeError) as error:  # a ring of links, no permission
        return f"{path} cannot be read: {error}"
    if within is not None and path != within and path.is_symlink():
        if not real.is_relative_to(within.resolve()):
            return f"{path} is a link that leads out of {within}"
        if stat.S_ISDIR(mode):
            return f"{path} is a link to a folder"
    kind = KINDS.get(stat.S_IFMT(mode), "")
    return f"{path} is {kind}" if kind else ""


def file_faults(path: Path, within: Path | None = None) -> Iterator[tuple[Path, str]]:
    """Yield a path and all below it that have a `file_fault`, by name; links are not followed."""
    if found := file_fault(path, within):
        yield path, found
        return
    for folder, folders, files in os.walk(path):
        folders.sort()
        for name in sorted([*folders, *files]):
            if found := file_fault(below := Path(folder, name), within):
                yield below, found


def boundary(folder: Path) -> Path | None:
    """Return the folder that links must not lead out of: people's own, but not one that DVC fills.

    `folder` is relative to the root; DVC may fill those in `data/` with links to its cache.
    """
    return None if folder.parts[:1] == ("data",) else folder
