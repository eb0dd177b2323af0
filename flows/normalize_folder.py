"""The flow `normalize-folder`: answers the files of a watched folder, once each.

Each file (CSV, Parquet) and each folder directly in the inbox becomes a folder of its own name in
the outbox, made by `flows/normalize.py`. Finished outputs stay when the champion changes. If a file
was replaced, its new answers stand beside the old ones. A file that is still being written waits
for the next run. If a file fails, the others are done and the error names it at the end.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import fsspec
from prefect import flow, get_run_logger
from prefect.artifacts import create_markdown_artifact

from flows import results
from flows.failed_run import leave_page
from flows.failure import Failure
from flows.normalize import MANIFEST, normalize_in
from flows.workspaces.workspace import existing_root_of
from tasks.apps.bulk.files import KINDS, SourceError, files_at, state_of

UNFINISHED, PLAN = ".unfinished", "plan.json"  # as in `tasks/apps/bulk/output.py`
PARTIAL = (".part", ".tmp", ".partial", ".crdownload", ".filepart")  # still being written
HIDDEN = (".", "_")


@flow(name="normalize-folder", on_failure=[leave_page], on_crashed=[leave_page])
def normalize_folder(
    inbox: str = "inbox",
    outbox: str = "outbox",
    profile: str = "",
    model: str = "",
    options: dict[str, Any] | None = None,
    quiet_seconds: float = 60,
) -> dict[str, int]:
    """Answer every row of the new files in a folder.

    Args:
        inbox: the watched folder, relative to the clone.
        outbox: the folder of answers, with a folder for each file.
        profile: a file of `profiles/`, whose model is used; empty: the current directory.
        model: address in the registry; empty: the champion.
        options: of `tasks/apps/bulk/__main__.py` by name, such as `column` or `top_k`.
        quiet_seconds: a file that changed within this time is taken as unfinished.

    Returns:
        name of each output -> its number of rows.

    Raises:
        Failure: there is no inbox, or some files could not be normalized; it names all of them.
    """
    root, rows, errors = existing_root_of(profile), dict[str, int](), list[str]()
    for source, output in due_sources(
        Path(inbox).absolute(), Path(outbox).absolute(), quiet_seconds
    ):
        begun_with = _model(output, model)
        try:
            manifest = normalize_in(root, str(source), str(output), begun_with, options or {})
        except Failure as error:
            errors.append(f"{source.name}: {error}")
        else:
            rows[output.name] = manifest["rows"]
    get_run_logger().info("%s normalized, %s failed", len(rows), len(errors))
    if rows:
        counts = [(name, f"{count:,}") for name, count in rows.items()]
        create_markdown_artifact(
            key="normalize-folder", markdown=results.as_markdown(counts, (outbox, "rows"))
        )
    if errors:
        raise Failure("\n".join([f"{len(errors)} of {inbox} not normalized", *errors]))
    return rows


def due_sources(inbox: Path, outbox: Path, quiet_seconds: float) -> list[tuple[Path, Path]]:
    """List the sources that have no finished output yet, by name, with their output folders.

    Raises:
        Failure: there is no inbox, or the outbox lies in it.
    """
    if not inbox.is_dir():
        raise Failure(f"no folder {inbox} to watch: make it, or name another one (inbox=...)")
    if outbox.is_relative_to(inbox):
        raise Failure(f"{outbox} lies in {inbox}, whose files are normalized: name another outbox")
    manifests = [file.read_text(encoding="utf-8") for file in outbox.glob(f"*/{MANIFEST}")]
    finished = {json.loads(text).get("result", {}).get("state", "") for text in manifests}
    due = []
    for source in sorted(inbox.iterdir()):
        state = _state(source, quiet_seconds)
        if state and state not in finished:
            taken = (outbox / source.name).exists()
            name = f"{source.name}.{state}" if taken else source.name
            due.append((source, outbox / name))
    return due


def _state(source: Path, quiet_seconds: float) -> str:
    """Return the state of a complete file or folder of tables; empty for all else."""
    if source.name.startswith(HIDDEN) or source.name.endswith(PARTIAL):
        return ""
    if not source.is_dir() and not source.name.lower().endswith(KINDS):
        return ""
    try:
        below = source.rglob("*") if source.is_dir() else ()
        if not all(_is_complete(path, quiet_seconds) for path in (source, *below)):
            return ""
        system, path = fsspec.core.url_to_fs(str(source))
        return state_of(tuple(files_at(system, path, str(source))))
    except (FileNotFoundError, SourceError):  # removed meanwhile, or an empty folder
        return ""


def _is_complete(path: Path, seconds: float) -> bool:
    """Tell whether nobody writes to a file; a copy may keep an old date, but its inode is new."""
    stat = path.stat()
    age = time.time() - max(stat.st_mtime, stat.st_ctime)
    return not path.name.endswith(PARTIAL) and not 0 <= age < seconds


def _model(output: Path, model: str) -> str:
    """Return the model that began this output, so that a new champion does not mix with it."""
    plan = output.with_name(output.name + UNFINISHED) / PLAN
    if not plan.is_file():
        return model
    begun: str = json.loads(plan.read_text(encoding="utf-8"))["model"]
    return begun
