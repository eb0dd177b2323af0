"""Reviewers' files: where they lie, what a run sees of them, and how they correct the champion.

They lie in `feedback/NAME` of the main tree, outside git, unless the profile names another folder
in `feedback.folder`. The workspace's own `feedback/` holds copies of them and nothing else, so that
DVC sees them as data of this profile. DVC's stage `feedback` refuses bad rows with their reasons
and versions the rest. Then the champion is registered again with the reviewers' answers, without
training; the next `retrain` learns from them. A run that was killed can be repeated.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Collection, Mapping
from filecmp import cmp, cmpfiles
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from flows.environment import profile_of, read_params
from flows.processes import Show, check_params, show_line, until_error
from flows.profiles import SAMPLE, ProfileError
from flows.stages import push, repro, run_stage
from tasks.io.regular_files import file_fault

if TYPE_CHECKING:
    from tasks.release.registry.outcomes import Patched

STAGE = "feedback"
LABELS = "data/simulate_feedback/feedback.csv"  # verdicts of labels, no reviewer's
FOLDER = "feedback"
README = "README.md"  # the only file of the folder that git keeps


def apply_feedback(root: Path) -> dict[str, str]:
    """Read the reviewers' files and correct the champion, if there is one; return the facts."""
    if not (root / LABELS).is_file():
        command = f"rolecall retrain --profile {profile_of(root) or SAMPLE}"
        return {"model": f"none yet in {root}: `{command}` also learns from the files"}
    check_params(root)
    with repro(root, [STAGE]) as stages:
        outcomes = [run_stage(stage, lines, until_error(show_line)) for stage, lines in stages]
    if outcomes != ["unchanged"]:
        push(root, STAGE)
    from tasks.release.feedback_patch import apply_patches  # it brings MLflow
    from tasks.release.gate.decision_page import write_page

    patched = apply_patches(root)
    if any(patched):
        write_page(root)
    counts = json.loads((root / "data/feedback/metrics.json").read_text(encoding="utf-8"))
    return facts(counts, patched, root)


def facts(counts: dict[str, Any], patched: Patched, root: Path) -> dict[str, str]:
    """Describe a run by the gate's decisions and the counts of files but `LABELS`."""
    read = {name: rows for name, rows in counts["rows_read"].items() if name != LABELS}
    refused = sum(sum(counts["rejected"].get(name, {}).values()) for name in read)
    folder = feedback_folder(root)
    rows = {
        "files": f"{len(read):,} in {folder}",
        "rows": f"{sum(read.values()):,} read, {refused:,} refused",
        "titles": "{overrides:,} overrides, {not_job_titles:,} not job titles, "
        "{rejected_answers:,} answers not given again".format(**counts),
        "conflict": f"{counts['conflicts']:,}",
    }
    if others := unread(root, read):
        rows["skipped"] = f"{', '.join(others)}: of a kind that is not read"
    if patched.champion is None:
        known = "the champion has all of this feedback already"
        rows["model"] = known if read else f"unchanged: no file of feedback in {folder}"
    for key, done in zip(("model", "challenger"), patched, strict=True):
        if done:
            version, decision = done
            outcome = "champion" if decision.promoted else "not promoted"
            rows[key] = f"{version.name} version {version.version}"
            rows["gate" if key == "model" else "verdicts"] = f"{outcome}: {decision.reason}"
    return rows


def unread(root: Path, read: Collection[str]) -> list[str]:
    """Name the visible files of the feedback folder that the stage did not read."""
    names = {part for name in read for part in Path(name).parts} | {README}
    files = (root / read_params(root)["feedback"]["folder"]).iterdir()
    visible = {path.name for path in files if path.is_file() and not path.name.startswith(".")}
    return sorted(visible - names)


def feedback_folder(root: Path) -> str:
    """Return where people put the files that a run in `root` reads: a path, or an address."""
    folder = Path(_named(read_params(root)))
    if profile_of(root) and folder == Path(FOLDER):
        return str(_reviewed(root))
    imported = root / "data" / f"{folder.name}.dvc"  # of `external:`: see external.py
    if folder.parent == Path("data/external") and imported.is_file():
        return str(yaml.safe_load(imported.read_text(encoding="utf-8"))["deps"][0]["path"])
    return str(root / folder)


def is_copied(root: Path) -> bool:
    """Tell whether a workspace holds its profile's files as they lie; a main tree always does."""
    if not profile_of(root):
        return True
    source, copies = _reviewed(root), root / FOLDER
    if not (source.is_dir() and copies.is_dir()):
        return True
    files, copied = _regular_files(source), _regular_files(copies)
    return files.keys() == copied.keys() and not any(cmpfiles(source, copies, files, False)[1:])


def copy_feedback(workspace: Path, params: Mapping[str, Any], show: Show) -> None:
    """Let the workspace's `feedback/` hold the files of `feedback/NAME`, which is made.

    A ProfileError says that `feedback.folder` lies below `feedback/`, or a file has its name.
    """
    source, copies = _reviewed(workspace), workspace / FOLDER
    if Path(FOLDER) in Path(_named(params)).parents:
        raise ProfileError(
            f"feedback.folder: {_named(params)}: remove this line from the profile. Files in "
            f"{source} are read as they lie there"
        )
    if source.exists() and not source.is_dir():
        raise ProfileError(f"{source} is no folder: move the file into a folder of this name")
    source.mkdir(parents=True, exist_ok=True)
    copies.mkdir(exist_ok=True)
    files = _regular_files(source, show)
    for copy in copies.iterdir():
        if copy.name not in {*files, README}:
            shutil.rmtree(copy) if copy.is_dir() else copy.unlink()
    for file in files.values():
        copy = copies / file.name
        if not (copy.is_file() and cmp(file, copy, shallow=False)):
            partial = workspace / ".dvc/tmp" / f"{file.name}.partial"
            partial.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, partial)
            partial.replace(copy)


def _reviewed(workspace: Path) -> Path:
    """Return the folder in the main tree where a profile's reviewers put their files."""
    return workspace.parents[1] / FOLDER / workspace.name


def _named(params: Mapping[str, Any]) -> str:
    return str(params.get("feedback", {}).get("folder", FOLDER))


def _regular_files(folder: Path, show: Show = lambda line: None) -> dict[str, Path]:
    """Return the visible regular files of a folder by their names; opens none."""
    files = dict[str, Path]()
    for path in sorted(folder.iterdir()):
        fault = file_fault(path, folder) or (f"{path} is a folder" if path.is_dir() else "")
        if fault:
            show(f"warning: {fault}: not read")
        elif not path.name.startswith(".") and path.name != README:
            files[path.name] = path
    return files
