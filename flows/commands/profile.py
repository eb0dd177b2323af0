"""`rolecall profile`: a profile for one's own files, looked at and written down to be changed."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from flows.commands.ending import ending
from flows.commands.place import clone
from flows.failure import failed
from flows.processes.streaming import stream

PROPOSAL = "tasks.proposal"


def profile(
    name: str, files: dict[str, Path | None], columns: Sequence[str], options: Sequence[str]
) -> None:
    """Propose a profile in the clone, of files that are named as seen from the current directory.

    Args:
        name: of the profile.
        files: role (`taxonomy`, `inputs`, `synonyms`) -> file.
        columns: `ROLE=COLUMN` each.
        options: further words of the command.
    """
    with ending():
        root = clone()
        words = [name, *options]
        for role, file in files.items():
            words += [f"--{role}", str(file.absolute())] if file else []
        for column in columns:
            words += ["--column", column]
        status, lines = stream([sys.executable, "-m", PROPOSAL, *words], root, lambda _: None)
        if status:
            raise failed(f"profile {name}", status, lines)
        print("\n".join([*lines, f"next: rolecall retrain --profile {name}"]))
