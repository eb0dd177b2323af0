"""The flow `normalize-folder`: what lies in a watched folder, normalized into another one.

Each file (CSV, Parquet) and each folder directly in the inbox becomes a folder of its own name in
the outbox, made by `flows/normalize.py`. What was made stays, whatever model is champion since; a
file that was replaced since is normalized anew, beside it, under its name and the state of the new
one. What is still being written waits for the next run; what fails is named at the end, and keeps
nothing else from being done.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import fsspec
from prefect import flow, get_run_logger
from prefect.artifacts import create_markdown_artifact

from flows import results
from flows.failed_run import leave_page
from flows.failure import Failure
from flows.normalize import MANIFEST, normalize_in
from flows.workspaces.workspace import standing_root_of
from tasks.bulk.files import KINDS, SourceError, files_at, state_of

UNFINISHED, PLAN = ".unfinished", "plan.json"
"""What `tasks/bulk/output.py` calls a folder in the making, and what it is made of."""
HALF = (".part", ".tmp", ".partial", ".crdownload", ".filepart")
"""How names end of files that somebody is still writing."""
HIDDEN = (".", "_")


@dataclass(frozen=True)
class Due:
    """What is to be normalized, and the folder that it becomes."""

    source: Path
    output: Path


@flow(name="normalize-folder", on_failure=[leave_page], on_crashed=[leave_page])
def normalize_folder(
    inbox: str = "inbox",
    outbox: str = "outbox",
    profile: str = "",
    model: str = "",
    options: dict[str, Any] | None = None,
    quiet_seconds: float = 60,
) -> dict[str, int]:
    """Answer every row of what is new in a folder.

    Args:
        inbox: the watched folder, as seen from the clone.
        outbox: where the answers go, a folder for each file.
        profile: a file of `profiles/`, whose model is meant; empty: the current directory.
        model: address in the registry; empty: the champion.
        options: of `tasks/bulk/__main__.py` by name, such as `column` or `top_k`.
        quiet_seconds: a file that was changed later than so long ago is still being written.

    Returns:
        name of what was made -> its rows.

    Raises:
        Failure: there is no inbox, or some of it could not be normalized; all of that is named.
    """
    root, done, failed = standing_root_of(profile), dict[str, int](), list[str]()
    for due in what_is_due(Path(inbox).absolute(), Path(outbox).absolute(), quiet_seconds):
        try:
            made = normalize_in(
                root, str(due.source), str(due.output), _model(due, model), options or {}, ""
            )
        except Failure as error:
            failed.append(f"{due.source.name}: {error}")
        else:
            done[due.output.name] = made["rows"]
    get_run_logger().info("%s normalized, %s failed", len(done), len(failed))
    if done:
        rows = [(name, f"{count:,}") for name, count in done.items()]
        create_markdown_artifact(
            key="normalize-folder", markdown=results.as_markdown(rows, (outbox, "rows"))
        )
    if failed:
        raise Failure("\n".join([f"{len(failed)} of {inbox} not normalized", *failed]))
    return done


def what_is_due(inbox: Path, outbox: Path, quiet_seconds: float) -> list[Due]:
    """List what has no finished output yet, by name.

    Raises:
        Failure: there is no inbox, or the outbox lies in it.
    """
    if not inbox.is_dir():
        raise Failure(f"no folder {inbox} to watch: make it, or name another one (inbox=...)")
    if outbox.is_relative_to(inbox):
        raise Failure(f"{outbox} lies in {inbox}, whose files are normalized: name another outbox")
    made = _states(outbox)
    due = []
    for source in sorted(inbox.iterdir()):
        state = _state(source, quiet_seconds)
        if state and state not in made:
            taken = (outbox / source.name).exists()
            name = f"{source.name}.{state}" if taken else source.name
            due.append(Due(source, outbox / name))
    return due


def _states(outbox: Path) -> set[str]:
    """Return the states of all that was made."""
    texts = [file.read_text(encoding="utf-8") for file in outbox.glob(f"*/{MANIFEST}")]
    return {json.loads(text).get("result", {}).get("state", "") for text in texts}


def _state(source: Path, quiet_seconds: float) -> str:
    """Return the state of what is ready to be read; empty for all else."""
    if source.name.startswith(HIDDEN) or source.name.endswith(HALF):
        return ""
    if not source.is_dir() and not source.name.lower().endswith(KINDS):
        return ""
    try:
        if not all(_rests(path, quiet_seconds) for path in [source, *_below(source)]):
            return ""
        system, path = fsspec.core.url_to_fs(str(source))
        return state_of(tuple(files_at(system, path, str(source))))
    except (FileNotFoundError, SourceError):  # taken away meanwhile, or an empty folder
        return ""


def _below(folder: Path) -> Iterator[Path]:
    return folder.rglob("*") if folder.is_dir() else iter(())


def _rests(path: Path, seconds: float) -> bool:
    """Tell whether nobody writes to a file; a copy may bring an old date along, its node is new."""
    stat = path.stat()
    age = time.time() - max(stat.st_mtime, stat.st_ctime)
    return not path.name.endswith(HALF) and not 0 <= age < seconds


def _model(due: Due, model: str) -> str:
    """Return the model that began this output, so that a new champion does not mix with it."""
    plan = due.output.with_name(due.output.name + UNFINISHED) / PLAN
    if not plan.is_file():
        return model
    begun: str = json.loads(plan.read_text(encoding="utf-8"))["model"]
    return begun
