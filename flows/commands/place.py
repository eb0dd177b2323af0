"""Where a command works: the clone around the current directory, or a profile's workspace in it."""

from __future__ import annotations

from pathlib import Path

from flows.failure import Failure

MARKS = ("dvc.yaml", "params.yaml")


def clone() -> Path:
    """Return the nearest folder at or above the current one that holds a pipeline.

    Raises:
        Failure: there is none.
    """
    here = Path.cwd()
    for folder in (here, *here.parents):
        if all((folder / mark).is_file() for mark in MARKS):
            return folder
    raise Failure(f"no {' and '.join(MARKS)} in {here} or above: change to a clone of rolecall")
