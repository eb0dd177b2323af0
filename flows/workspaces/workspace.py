"""A profile's workspace: a git worktree at HEAD in `.workspaces/NAME`, which the flow runs in.

It shares the DVC cache and remotes of the main tree, and has its own `params.yaml` (with the
profile laid over it) and `dvc.lock`, neither of them committed. The main tree is left as it was.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

from flows.failure import Failure
from flows.workspaces.external import bring
from flows.workspaces.profiles import ProfileError, merged, read_profile
from flows.workspaces.sources import ExternalError, located, require_files

Say = Callable[[str], None]
OWN = ("dvc.lock", "data/report/metrics.json")
"""Files of git that a run writes: a workspace has its own."""


class WorkspaceError(Failure):
    """A workspace that cannot be made; the message says what to change."""


def prepare(folder: Path, name: str, say: Say = print) -> Path:
    """Make or refresh the workspace of profile `name` and return its path.

    Raises:
        WorkspaceError: an unknown profile or parameter, an outside file that is not to be had, or
            what git or DVC cannot do, in their words.
    """
    try:
        return _prepare(folder, name, say)
    except (ProfileError, ExternalError, subprocess.CalledProcessError) as error:
        raise WorkspaceError(f"profile {name}: {_explained(error)}") from error


def root_of(profile: str) -> Path:
    """Return where a flow run works: the current directory, or the workspace of its profile."""
    return prepare(Path.cwd(), profile) if profile else Path.cwd()


def standing_root_of(profile: str) -> Path:
    """Return the same for a run that only asks the profile's model: a workspace stays as it is.

    It may be at work at the moment, and to refresh it would change files below its hands.
    """
    workspace = workspace_of(Path.cwd(), profile) if profile else Path.cwd()
    return workspace if workspace.is_dir() else root_of(profile)


def workspace_of(folder: Path, name: str) -> Path:
    """Return where profile `name` runs, whether or not it has."""
    return _main(folder) / ".workspaces" / name


def _main(folder: Path) -> Path:
    return Path(_git(folder, "rev-parse", "--show-toplevel").strip())


def _explained(error: Exception) -> str:
    if isinstance(error, subprocess.CalledProcessError):
        return f"{' '.join(error.cmd)}\n{error.stderr or ''}{error.stdout or ''}".strip()
    return str(error)


def _prepare(folder: Path, name: str, say: Say) -> Path:
    main = _main(folder)
    overrides, external = read_profile(main / "profiles", name)
    data = os.environ.get("ROLECALL_DATA")
    located(external, data, main)  # what is missing is said before anything is made
    if _git(main, "status", "--porcelain", "--untracked-files=no").strip():
        say(f"warning: uncommitted changes; profile {name} runs the last commit's code")
    workspace = workspace_of(main, name)
    say(f"workspace {workspace.relative_to(main)}")
    _check_out(main, workspace)
    _share_storage(main, workspace)
    params = _lay_over(workspace, overrides)
    bring(workspace, external, data, main, say)
    require_files(workspace, params, main)
    return workspace


def _check_out(main: Path, workspace: Path) -> None:
    """Check out HEAD's files but `OWN`: those of the workspace's last run stay, or none."""
    kept = {workspace / name: workspace / ".dvc/tmp" / f"{Path(name).name}.kept" for name in OWN}
    if (workspace / ".git").exists():
        for own, place in kept.items():
            place.parent.mkdir(parents=True, exist_ok=True)
            if own.exists() and not place.exists():
                own.rename(
                    place
                )  # where a kill before the last line leaves it, the next run finds it
        _git(workspace, "checkout", "--quiet", "--force", "--detach", _head(main))
    else:
        _git(main, "worktree", "add", "--quiet", "--force", "--detach", str(workspace), "HEAD")
    for own, place in kept.items():
        own.unlink(missing_ok=True)
        if place.exists():
            own.parent.mkdir(parents=True, exist_ok=True)
            place.rename(own)


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


def _lay_over(workspace: Path, overrides: dict[str, object]) -> dict[str, Any]:
    """Write HEAD's `params.yaml` with the profile's values and return these; comments are lost."""
    file = workspace / "params.yaml"
    params = merged(yaml.safe_load(file.read_text(encoding="utf-8")), overrides)
    text = yaml.safe_dump(params, sort_keys=False, allow_unicode=True, width=100)
    file.write_text(text, encoding="utf-8")
    return params


def _head(main: Path) -> str:
    return _git(main, "rev-parse", "HEAD").strip()


def _git(folder: Path, *arguments: str) -> str:
    """Run git without hooks: DVC's own post-checkout hook would check data out for nothing."""
    command = ["git", "-c", "core.hooksPath=/dev/null", *arguments]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout
