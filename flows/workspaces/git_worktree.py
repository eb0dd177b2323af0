"""A workspace's files as git has them: HEAD's, and on top the main tree's uncommitted changes.

New code that git does not know is refused, because no workspace would hold it.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

from flows.failure import Failure
from flows.workspaces.profiles import ProfileError

OWN = ("dvc.lock", "data/report/metrics.json")  # written by runs: a workspace has its own
CODE = ("tasks", "models")  # of the stages, which run in the workspace


def require_repository(folder: Path) -> Path:
    """Return the root of the working tree that `folder` lies in.

    Raises:
        Failure: there is none, or it has no commit yet, as in the folder of a ZIP file.
    """
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
        more = f" and {len(new) - 3} more" if len(new) > 3 else ""
        raise ProfileError(
            f"git does not know {', '.join(new[:3])}{more}, so that the profile's workspace lacks "
            "it: `git add` what belongs to the code (no commit is needed), or remove it"
        )


def follow_move(main: Path, workspace: Path) -> bool:
    """Let git find the workspace of a clone that was moved or copied; return whether it was.

    Git stores the absolute paths of main tree and workspace, each with the other one.
    """
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
