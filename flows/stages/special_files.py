"""Refuses folders in which DVC would hang: it opens whatever lies there to hash it."""

from __future__ import annotations

from pathlib import Path

import yaml

from flows.failure import Failure
from tasks.io.regular_files import boundary, file_faults

NAMED = 10  # files of a message


def require_regular_files(root: Path) -> None:
    """Look at the folders that sections of `params.yaml` name, such as `feedback.folder`.

    Raises:
        Failure: one holds a pipe, a device, or, if people fill it, a link that leads out of it.
    """
    found: list[str] = []
    for name in _folders(root / "params.yaml"):
        within = boundary(Path(name))
        found += file_faults(root / name, within and root / within)
    if found:
        rest = [f"and {len(found) - NAMED:,} more"] if len(found) > NAMED else []
        raise Failure(
            "\n".join([*found[:NAMED], *rest, "take them out, or put the file itself there"])
        )


def _folders(params: Path) -> list[str]:
    """Return the values of `folder`; DVC itself reports a file that is missing or no YAML."""
    try:
        content = yaml.safe_load(params.read_text(encoding="utf-8"))
    except (FileNotFoundError, yaml.YAMLError):
        return []
    sections = [*content.values()] if isinstance(content, dict) else []
    names = [section.get("folder") for section in sections if isinstance(section, dict)]
    return [name for name in dict.fromkeys(names) if isinstance(name, str)]
