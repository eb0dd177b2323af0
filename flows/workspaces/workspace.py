"""A profile's workspace: a git worktree in `.workspaces/NAME`, in which the flow runs.

It shares the DVC cache and remotes of the main tree. Its `params.yaml` (with the profile's values)
and its `dvc.lock` are its own, and neither is committed. In the main tree only the folder of
reviewers' files is made (`feedback_folder.py`).
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import yaml

from flows.failure import Failure
from flows.processes.streaming import Show
from flows.workspaces.external import import_external, require_files, resolve_sources
from flows.workspaces.feedback_folder import WORKSPACES, copy_feedback
from flows.workspaces.git_worktree import (
    check_out,
    copy_changes,
    follow_move,
    refuse_new_code,
    require_repository,
)
from flows.workspaces.profiles import SAMPLE, ProfileError, merged, read_profile

FEW = 3
MAIN_TREE = ("", SAMPLE)
NAME = re.compile(r"\w[\w.-]{0,79}")


def prepare(folder: Path, name: str, show: Show = print) -> Path:
    """Make or refresh the workspace of profile `name` and return its path, as `workspace_of` does.

    Raises:
        Failure: a profile, parameter or external file is missing, or git or DVC failed.
    """
    if name in MAIN_TREE:
        return folder
    try:
        main = require_repository(folder)
        workspace = workspace_of(main, name)
        overrides, external = read_profile(main / "profiles", name)
        data = os.environ.get("ROLECALL_DATA")
        resolve_sources(external, data, main)  # refuse missing files before anything is made
        refuse_new_code(main)
        show(f"workspace {workspace.relative_to(main)}")
        check_out(main, workspace)
        if changed := copy_changes(main, workspace):
            more = f" and {len(changed) - FEW} more" if len(changed) > FEW else ""
            show(f"uncommitted changes count: {', '.join(changed[:FEW])}{more}")
        _share_storage(main, workspace)
        params = _write_params(workspace, overrides)
        import_external(workspace, external, data, main, show)
        require_files(workspace, params, main)
        copy_feedback(main, workspace, params, show)
        return workspace
    except ProfileError as error:
        raise Failure(f"profile {name}: {error}") from error
    except subprocess.CalledProcessError as error:
        output = f"{' '.join(error.cmd)}\n{error.stderr or ''}{error.stdout or ''}".strip()
        raise Failure(f"profile {name}: {output}") from error


def root_of(profile: str) -> Path:
    """Return the folder of a flow: the current directory, or its profile's fresh workspace."""
    return prepare(Path.cwd(), profile)


def existing_root_of(profile: str) -> Path:
    """Return the same without a refresh, which would disturb a retraining at work there."""
    workspace = workspace_of(Path.cwd(), profile)
    return workspace if workspace.is_dir() else root_of(profile)


def workspace_of(folder: Path, name: str) -> Path:
    """Return the workspace of profile `name`, which need not exist; it moves with its clone.

    `sample` and no name have none: they are `folder` itself.

    Raises:
        Failure: the name is none of a profile.
    """
    if name in MAIN_TREE:
        return folder
    if not NAME.fullmatch(name):
        raise Failure(f"no profile {name[:80]!r}: up to 80 letters, digits, - and _ make a name")
    main = require_repository(folder)
    workspace = main / WORKSPACES / name
    if follow_move(main, workspace):
        _share_storage(main, workspace)
    return workspace


def _share_storage(main: Path, workspace: Path) -> None:
    """Write `.dvc/config.local`: the main tree's cache and remotes, by absolute path.

    DVC's own writer fails at a path with letters beyond ASCII.
    """
    from configobj import ConfigObj
    from dvc.repo import Repo

    config = ConfigObj(encoding="utf-8", interpolation=False)
    with Repo(str(main)) as repo:
        if default := repo.config["core"].get("remote"):
            config["core"] = {"remote": default}
        config["cache"] = {"dir": repo.cache.local_cache_dir}
        for name, remote in repo.config["remote"].items():
            config[f'remote "{name}"'] = {key: str(value) for key, value in remote.items()}
    file = workspace / ".dvc/config.local"
    file.touch(0o600)  # remotes may have passwords
    with file.open("wb") as handle:
        config.write(handle)


def _write_params(workspace: Path, overrides: dict[str, object]) -> dict[str, Any]:
    """Write the main tree's `params.yaml` with the profile's values; return the values."""
    file = workspace / "params.yaml"
    params = merged(yaml.safe_load(file.read_text(encoding="utf-8")), overrides)
    text = yaml.safe_dump(params, sort_keys=False, allow_unicode=True, width=100)
    file.write_text(text, encoding="utf-8")
    return params
