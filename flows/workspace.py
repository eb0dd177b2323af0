"""A profile's workspace: a git worktree in `.workspaces/NAME`, in which the flow runs.

It holds the files of HEAD and, on top, the main tree's uncommitted changes. It shares the DVC cache
and remotes of the main tree. Its `params.yaml` (with the profile's values) and its `dvc.lock` are
its own, and neither is committed. In the main tree only the folder of reviewers' files is made.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from flows.environment import WORKSPACES, read_params
from flows.errors import Failure
from flows.feedback import copy_feedback
from flows.processes import Show, show_line
from flows.profiles import (
    DEFAULT,
    SAMPLE,
    ProfileError,
    import_external,
    merged,
    read_profile,
    require_files,
    resolve_sources,
)

FEW = 3
MAIN_TREE = ("", SAMPLE)
CACHE_DIR = ".prediction_cache"  # of `rolecall normalize`, in the root
NAME = re.compile(r"\w[\w.-]{0,79}")
OWN = ("dvc.lock", "data/report/metrics.json")  # written by runs: a workspace has its own
CODE = ("tasks", "models")  # of the stages, which run in the workspace


def prepare(folder: Path, name: str, show: Show = show_line) -> Path:
    """Make or refresh the workspace of profile `name`, and return its path as `workspace_of` does.

    A Failure says that a profile, parameter or external file is missing, or that git or DVC failed.
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
            show(f"uncommitted changes count: {_first(changed)}")
        _share_storage(main, workspace)
        params = _write_params(workspace, overrides)
        import_external(workspace, external, data, main, show)
        require_files(workspace, params, main)
        copy_feedback(workspace, params, show)
        return workspace
    except ProfileError as error:
        raise Failure(f"profile {name}: {error}") from error
    except subprocess.CalledProcessError as error:
        output = f"{' '.join(error.cmd)}\n{error.stderr or ''}{error.stdout or ''}".strip()
        raise Failure(f"profile {name}: {output}") from error


def existing_root(folder: Path, profile: str, model: str = "") -> Path:
    """Return a profile's workspace as its last run left it; a named `model` needs none.

    A Failure says that the profile has none yet, or is none.
    """
    root = workspace_of(folder, profile)
    if root.is_dir() or model:
        return root if root.is_dir() else folder
    command = f"`rolecall retrain --profile {profile}` trains its model"
    if profile == DEFAULT:
        command += " in a quarter of an hour; `--profile sample` is for trying out"
    else:
        try:
            read_profile(folder / "profiles", profile)
        except ProfileError as error:  # it says which there are
            raise Failure(str(error)) from None
    raise Failure(f"profile {profile} has not run here yet: {command}")


def workspace_of(folder: Path, name: str) -> Path:
    """Return the workspace of profile `name` (Failure: no name); of `sample` it is `folder`."""
    if name in MAIN_TREE:
        return folder
    if not NAME.fullmatch(name):
        raise Failure(f"no profile {name[:80]!r}: up to 80 letters, digits, - and _ make a name")
    main = require_repository(folder)
    workspace = main / WORKSPACES / name
    if follow_move(main, workspace):
        _share_storage(main, workspace)
    return workspace


def champion(root: Path) -> str:
    """Return the address of the champion of `root`'s model."""
    return f"models:/{read_params(root)['register']['name']}@champion"


def _share_storage(main: Path, workspace: Path) -> None:
    """Write the main tree's cache and remotes; DVC's writer fails at letters beyond ASCII."""
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
    params = merged(read_params(workspace), overrides)
    text = yaml.safe_dump(params, sort_keys=False, allow_unicode=True, width=100)
    (workspace / "params.yaml").write_text(text, encoding="utf-8")
    return params


def require_repository(folder: Path) -> Path:
    """Return the root of the working tree around `folder`; Failure without one or a commit."""
    try:
        git(folder, "rev-parse", "--quiet", "--verify", "HEAD")
        return Path(git(folder, "rev-parse", "--show-toplevel"))
    except subprocess.CalledProcessError as error:
        fault = (error.stderr.strip() or "no commit yet").splitlines()[0]
        raise Failure(
            f"{folder} is no git repository with a commit ({fault}), and DVC needs one. Use `git "
            "clone`, or make one of a ZIP file's folder:\n"
            "  git init --quiet && git add . && git commit --quiet --message=rolecall"
        ) from None
    except FileNotFoundError:
        raise Failure("git is not installed, and DVC needs it") from None


def check_out(main: Path, workspace: Path) -> None:
    """Check out HEAD's files but `OWN`: the workspace keeps those of its last run, or has none."""
    kept = {workspace / name: workspace / ".dvc/tmp" / f"{Path(name).name}.kept" for name in OWN}
    if (workspace / ".git").exists():
        for own, copy in kept.items():
            copy.parent.mkdir(parents=True, exist_ok=True)
            if own.exists() and not copy.exists():  # a copy is left by a run that was killed here
                own.rename(copy)
        head = git(main, "rev-parse", "HEAD")
        git(workspace, "checkout", "--quiet", "--force", "--detach", head)
    else:
        git(main, "worktree", "add", "--quiet", "--force", "--detach", str(workspace), "HEAD")
    for own, copy in kept.items():
        own.unlink(missing_ok=True)
        if copy.exists():
            own.parent.mkdir(parents=True, exist_ok=True)
            copy.rename(own)


def copy_changes(main: Path, workspace: Path) -> list[str]:
    """Bring the main tree's uncommitted changes of tracked files but `OWN`; return their names."""
    others = [".", *(f":!{name}" for name in OWN)]
    changed = git(main, "diff", "--name-only", "--no-renames", "-z", "HEAD", "--", *others)
    if changed:
        commit = git(main, "stash", "create")  # an object alone: no stash and no file changes
        git(workspace, "restore", f"--source={commit}", "--staged", "--worktree", "--", *others)
    return changed.split("\0")[:-1]


def refuse_new_code(main: Path) -> None:
    """Refuse code of stages that git does not know, with a ProfileError that names it."""
    listing = ("ls-files", "--others", "--exclude-standard", "-z", "--")
    new = git(main, *listing, *(f"{folder}/**.py" for folder in CODE)).split("\0")[:-1]
    if new:
        raise ProfileError(
            f"git does not know {_first(new)}, so that the profile's workspace lacks it: `git add` "
            "what belongs to the code (no commit is needed), or remove it"
        )


def _first(names: Sequence[str]) -> str:
    more = f" and {len(names) - FEW} more" if len(names) > FEW else ""
    return ", ".join(names[:FEW]) + more


def follow_move(main: Path, workspace: Path) -> bool:
    """Mend the absolute paths that git stores, if the clone was moved or copied; say if it was."""
    link = workspace / ".git"
    if not link.is_file():
        return False
    recorded = link.read_text(encoding="utf-8").removeprefix("gitdir:").strip()
    here = main / ".git" / "worktrees" / Path(recorded).name
    if (workspace / recorded).resolve() == here.resolve() or not here.is_dir():
        return False
    (here / "gitdir").write_text(f"{link}\n", encoding="utf-8")
    link.write_text(f"gitdir: {here}\n", encoding="utf-8")
    return True


def git(folder: Path, *arguments: str) -> str:
    """Run git without hooks: DVC's own post-checkout hook would check data out for nothing."""
    command = ["git", "-c", "core.hooksPath=/dev/null", *arguments]
    done = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip("\n")
