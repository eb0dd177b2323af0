"""A profile's workspace: a git worktree at HEAD in `.workspaces/NAME`, in which the flow runs.

It shares the DVC cache and remotes of the main tree. Its `params.yaml` (with the profile's values)
and its `dvc.lock` are its own, and neither is committed. The main tree does not change.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import yaml

from flows.failure import Failure
from flows.processes.streaming import Show
from flows.workspaces.external import import_external, require_files, resolve_sources
from flows.workspaces.profiles import ProfileError, merged, read_profile

OWN = ("dvc.lock", "data/report/metrics.json")  # written by runs: a workspace has its own


def prepare(folder: Path, name: str, show: Show = print) -> Path:
    """Make or refresh the workspace of profile `name` and return its path.

    Raises:
        Failure: a profile, parameter or external file is missing, or git or DVC failed.
    """
    try:
        main = _main(folder)
        overrides, external = read_profile(main / "profiles", name)
        data = os.environ.get("ROLECALL_DATA")
        resolve_sources(external, data, main)  # refuse missing files before anything is made
        if _git(main, "status", "--porcelain", "--untracked-files=no"):
            show(f"warning: uncommitted changes; profile {name} runs the last commit's code")
        workspace = workspace_of(main, name)
        show(f"workspace {workspace.relative_to(main)}")
        _check_out(main, workspace)
        _share_storage(main, workspace)
        params = _write_params(workspace, overrides)
        import_external(workspace, external, data, main, show)
        require_files(workspace, params, main)
        return workspace
    except ProfileError as error:
        raise Failure(f"profile {name}: {error}") from error
    except subprocess.CalledProcessError as error:
        output = f"{' '.join(error.cmd)}\n{error.stderr or ''}{error.stdout or ''}".strip()
        raise Failure(f"profile {name}: {output}") from error


def root_of(profile: str) -> Path:
    """Return the folder of a flow: the current directory, or its profile's fresh workspace."""
    return prepare(Path.cwd(), profile) if profile else Path.cwd()


def existing_root_of(profile: str) -> Path:
    """Return the same without a refresh, which would disturb a retraining at work there."""
    workspace = workspace_of(Path.cwd(), profile) if profile else Path.cwd()
    return workspace if workspace.is_dir() else root_of(profile)


def workspace_of(folder: Path, name: str) -> Path:
    """Return the workspace of profile `name`, which need not exist."""
    return _main(folder) / ".workspaces" / name


def _main(folder: Path) -> Path:
    return Path(_git(folder, "rev-parse", "--show-toplevel"))


def _check_out(main: Path, workspace: Path) -> None:
    """Check out HEAD's files but `OWN`: the workspace keeps those of its last run, or has none."""
    kept = {workspace / name: workspace / ".dvc/tmp" / f"{Path(name).name}.kept" for name in OWN}
    if (workspace / ".git").exists():
        for own, copy in kept.items():
            copy.parent.mkdir(parents=True, exist_ok=True)
            if own.exists() and not copy.exists():  # a copy is left by a run that was killed here
                own.rename(copy)
        head = _git(main, "rev-parse", "HEAD")
        _git(workspace, "checkout", "--quiet", "--force", "--detach", head)
    else:
        _git(main, "worktree", "add", "--quiet", "--force", "--detach", str(workspace), "HEAD")
    for own, copy in kept.items():
        own.unlink(missing_ok=True)
        if copy.exists():
            own.parent.mkdir(parents=True, exist_ok=True)
            copy.rename(own)


def _share_storage(main: Path, workspace: Path) -> None:
    """Write `.dvc/config.local`: the main tree's cache and remotes, by absolute path."""
    from dvc.config import Config
    from dvc.repo import Repo

    with Repo(str(main)) as repo:
        cache = repo.cache.local_cache_dir
        remotes = {k: {n: str(v) for n, v in r.items()} for k, r in repo.config["remote"].items()}
        default = repo.config["core"].get("remote")
    with Config(str(workspace / ".dvc")).edit("local") as config:
        config["cache"]["dir"] = cache
        config["remote"].update(remotes)
        if default:
            config["core"]["remote"] = default
    (workspace / ".dvc/config.local").chmod(0o600)  # remotes may have passwords


def _write_params(workspace: Path, overrides: dict[str, object]) -> dict[str, Any]:
    """Write HEAD's `params.yaml` with the profile's values, without comments; return the values."""
    file = workspace / "params.yaml"
    params = merged(yaml.safe_load(file.read_text(encoding="utf-8")), overrides)
    text = yaml.safe_dump(params, sort_keys=False, allow_unicode=True, width=100)
    file.write_text(text, encoding="utf-8")
    return params


def _git(folder: Path, *arguments: str) -> str:
    """Run git without hooks: DVC's own post-checkout hook would check data out for nothing."""
    command = ["git", "-c", "core.hooksPath=/dev/null", *arguments]
    done = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()
