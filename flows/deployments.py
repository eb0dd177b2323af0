"""The flows of `prefect.yaml` beside `retrain`: `normalize-folder` and `apply-feedback`.

`normalize-folder` answers each table in the inbox as a file, and each folder as a folder, of its
own name in the outbox. Finished outputs stay when the champion changes. If a file was replaced, its
new answers stand beside the old ones. A file that is still being written waits for the next run. If
a file fails, or is none that may be opened, the others are done and the error names it at the end.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import fsspec
from prefect import flow, get_run_logger
from prefect.artifacts import create_markdown_artifact

from flows import feedback
from flows.errors import Failure, first_lines
from flows.results import bulk_facts
from flows.runs import leave_page, publish, step
from flows.workspace import CACHE_DIR, champion, existing_root, prepare
from tasks.apps.bulk.inspection import KINDS, SourceError, files_at, state_of
from tasks.apps.unfinished import unfinished_at
from tasks.io.bulk_output import FILES, MANIFEST
from tasks.io.command import listed, markdown_table
from tasks.io.regular_files import file_faults

WAITING = "%s changed less than %g s ago, or are still being written, and wait for the next run"
PLAN = "plan.json"  # as in `tasks/apps/bulk/output.py`
PARTIAL = (".part", ".tmp", ".partial", ".crdownload", ".filepart")  # still being written


@flow(name="apply-feedback", log_prints=True, on_failure=[leave_page], on_crashed=[leave_page])
def apply_feedback(profile: str = "") -> dict[str, str]:
    """Read the reviewers' files and correct the champion (`flows/feedback.py`).

    Args:
        profile: a file of `profiles/`, whose feedback folder and model are used; empty: those of
            the current directory.
    """
    outcome = feedback.apply_feedback(prepare(Path.cwd(), profile))
    publish("apply-feedback", outcome, "The feedback that was read, and the champion with it")
    return outcome


@flow(name="normalize-folder", log_prints=True, on_failure=[leave_page], on_crashed=[leave_page])
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
        outbox: the folder of answers.
        profile: a file of `profiles/`, whose model is used; empty: the current directory.
        model: address in the registry; empty: the champion.
        options: of `tasks/apps/bulk/normalize.py` by name, such as `column` or `top_k`.
        quiet_seconds: a file that changed within this time is taken as unfinished.

    Returns:
        name of each output -> its number of rows.

    Raises:
        Failure: there is no inbox, or some files could not be normalized; it names all of them.
    """
    root, rows = existing_root(Path.cwd(), profile, model), dict[str, int]()
    errors, waiting = list[str](), list[str]()
    folders = Path(inbox).absolute(), Path(outbox).absolute()
    for source, output in due_sources(*folders, quiet_seconds, errors.append, waiting.append):
        chosen = _model(output, model) or champion(root)
        try:
            manifest = step(source.name, _normalized, source, output, chosen, root, options or {})
        except Exception as error:  # whatever is wrong with it, the others are done
            errors.append(f"{source.name}: {error}")
        else:
            rows[output.name] = manifest["rows"]
            publish("normalize", bulk_facts(manifest, output), f"The answers in {output}")
    get_run_logger().info("%s normalized, %s failed", len(rows), len(errors))
    if waiting:
        get_run_logger().warning(WAITING, listed(waiting), quiet_seconds)
    if rows:
        counts = [(name, f"{count:,}") for name, count in rows.items()]
        table = markdown_table((outbox, "rows"), counts)
        create_markdown_artifact(key="normalize-folder", markdown=table)
    if errors:
        head = f"{len(errors):,} of {inbox} not normalized"
        raise Failure("\n".join([head, *first_lines(errors)]))
    return rows


def _normalized(
    source: Path, output: Path, model: str, root: Path, options: Mapping[str, Any]
) -> dict[str, Any]:
    from tasks.apps.bulk.normalize import normalize  # it brings all that answers

    column = options.get("column", [])
    chosen = {**options, "column": [column] if isinstance(column, str) else column}
    return normalize(str(source), output, model, root / CACHE_DIR, root, **chosen)


def due_sources(
    inbox: Path,
    outbox: Path,
    quiet_seconds: float,
    refuse: Callable[[str], None],
    wait: Callable[[str], None],
) -> list[tuple[Path, Path]]:
    """List the sources that have no finished output yet, by name, with their outputs.

    `refuse` gets faults of sources that must not be opened, `wait` the names of incomplete ones. A
    Failure says that there is no inbox, or that the outbox lies in it.
    """
    if not inbox.is_dir():
        raise Failure(f"no folder {inbox} to watch: make it, or name another one (inbox=...)")
    if outbox.resolve().is_relative_to(inbox.resolve()):
        raise Failure(f"{outbox} lies in {inbox}, whose files are normalized: name another outbox")
    manifests = [*outbox.glob(f"*/{MANIFEST}"), *outbox.glob(f"*.{MANIFEST}")]
    texts = [file.read_text(encoding="utf-8") for file in manifests]
    finished = {json.loads(text).get("result", {}).get("state", "") for text in texts}
    due = []
    for source in sorted(filter(_is_source, inbox.iterdir())):
        if fault := next((text for _, text in file_faults(source, inbox)), ""):
            refuse(f"{fault}: copy the file itself, or take it out")
            continue
        state = _state(source, quiet_seconds)
        if state is None:
            wait(source.name)
        elif state and state not in finished:
            due.append((source, _output(source, outbox, state)))
    return due


def _is_source(path: Path) -> bool:
    """Tell by the name, and without opening it, whether a path is to be normalized."""
    is_left_out = path.name.startswith((".", "_")) or path.name.endswith(PARTIAL)
    return not is_left_out and (path.is_dir() or path.name.lower().endswith(KINDS))


def _output(source: Path, outbox: Path, state: str) -> Path:
    """Return a file for a file, of its kind if that can be written, and a folder for a folder."""
    suffix, is_folder = source.suffix.lower(), source.is_dir()
    if is_folder:
        added = ".parts" if suffix in FILES else ""
    else:
        added = "" if suffix in FILES else ".parquet" if suffix == ".pq" else ".csv"
    output = outbox / f"{source.name}{added}"
    if not output.exists():
        return output
    name = f"{output.name}.{state}" if is_folder else f"{output.stem}.{state}{output.suffix}"
    return output.with_name(name)


def _state(source: Path, quiet_seconds: float) -> str | None:
    """Return the state of a file or folder of tables; None while it is written, empty if gone."""
    try:
        below = source.rglob("*") if source.is_dir() else ()
        if not all(_is_complete(path, quiet_seconds) for path in (source, *below)):
            return None
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
    plan = unfinished_at(output) / PLAN
    return str(json.loads(plan.read_text(encoding="utf-8"))["model"]) if plan.is_file() else model
