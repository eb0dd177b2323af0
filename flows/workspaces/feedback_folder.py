"""Reviewers' files of a profile: they lie in `feedback/NAME` of the main tree, outside git.

The workspace's own `feedback/` holds copies of them and nothing else, so that DVC sees the files of
this profile as data of its run. A profile may name another folder in `feedback.folder`.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from filecmp import cmp
from pathlib import Path
from typing import Any

import yaml

from flows.processes.command import hide
from flows.processes.streaming import Show
from flows.workspaces.profiles import ProfileError
from tasks.io.regular_files import file_fault

FOLDER = "feedback"
WORKSPACES = ".workspaces"
README = "README.md"  # the only file of the folder that git keeps


def profile_of(root: Path) -> str:
    """Return the profile whose workspace `root` is; empty for a main tree."""
    return root.name if root.parent.name == WORKSPACES else ""


def feedback_folder(root: Path) -> str:
    """Return where people put the files that a run in `root` reads: a path, or an address."""
    params = yaml.safe_load((root / "params.yaml").read_text(encoding="utf-8"))
    folder = Path(_named(params))
    if profile_of(root) and folder == Path(FOLDER):
        return str(root.parents[1] / FOLDER / root.name)
    imported = root / "data" / f"{folder.name}.dvc"  # of `external:`: see external.py
    if folder.parent == Path("data/external") and imported.is_file():
        return str(yaml.safe_load(imported.read_text(encoding="utf-8"))["deps"][0]["path"])
    return str(root / folder)


def is_copied(root: Path) -> bool:
    """Tell whether a workspace holds its profile's files as they lie; a main tree always does."""
    if not profile_of(root):
        return True
    source, copies = root.parents[1] / FOLDER / root.name, root / FOLDER
    if not (source.is_dir() and copies.is_dir()):
        return True
    files, copied = _regular_files(source), _regular_files(copies)
    return files.keys() == copied.keys() and all(
        cmp(file, copied[name], shallow=False) for name, file in files.items()
    )


def copy_feedback(main: Path, workspace: Path, params: Mapping[str, Any], show: Show) -> None:
    """Let the workspace's `feedback/` hold what `feedback/NAME` of the main tree holds now.

    Makes the folder in the main tree. Pipes, folders and links that lead out of it are named and
    left out.

    Raises:
        ProfileError: `feedback.folder` names a folder below `feedback/`, or a file has its name.
    """
    name = profile_of(workspace)
    if Path(FOLDER) in Path(_named(params)).parents:
        raise ProfileError(
            f"feedback.folder: {_named(params)}: remove this line from the profile. Files in "
            f"{main / FOLDER / name} are read as they lie there"
        )
    source, copies = main / FOLDER / name, workspace / FOLDER
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


def _named(params: Mapping[str, Any]) -> str:
    return str(params.get("feedback", {}).get("folder", FOLDER))


def _regular_files(folder: Path, show: Show = hide) -> dict[str, Path]:
    """Return the visible regular files of a folder by their names; opens none."""
    files: dict[str, Path] = {}
    for path in sorted(folder.iterdir()):
        fault = file_fault(path, folder) or (f"{path} is a folder" if path.is_dir() else "")
        if fault:
            show(f"warning: {fault}: not read")
        elif not path.name.startswith(".") and path.name != README:
            files[path.name] = path
    return files
