"""The registry's address: MLFLOW_TRACKING_URI, or one SQLite file in the main tree.

The default is an absolute path below the main working tree, so that the git worktrees of the
profiles share it; `rolecall models --address` prints it.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tasks.io.moved_registry import follow_move
from tasks.io.reachable import check_answer

if TYPE_CHECKING:
    from mlflow import MlflowClient

URI = "MLFLOW_TRACKING_URI"
SQLITE = "sqlite:///"
QUIET = {
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "DO_NOT_TRACK": "true",
    "MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR": "false",
    "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true",  # the address may hold a password
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "30",  # seconds, of 120
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "3",  # of 7, each after a longer time
}


def main_tree(root: Path) -> Path:
    """Return the main working tree of `root`'s repository, or `root` itself where there is none."""
    command = ["git", "rev-parse", "--path-format=absolute", "--git-common-dir"]
    try:
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return root.resolve()
    return Path(done.stdout.strip()).parent


def tracking_uri(root: Path) -> str:
    """MLFLOW_TRACKING_URI if it is set, else the SQLite file of the main tree."""
    return os.environ.get(URI) or f"{SQLITE}{local_folder(root) / 'mlflow.db'}"


@contextmanager
def registry(root: Path) -> Iterator[MlflowClient]:
    """Open a client of the registry of `root`, which MLflow's own functions use meanwhile.

    Earlier settings come back afterwards; telemetry and progress bars are off unless the
    environment says otherwise. If the clone was moved, the default registry follows.

    Raises:
        ValueError: its server does not answer, or MLFLOW_TRACKING_URI names the default registry
            of a clone that is gone.
    """
    uri = tracking_uri(root)
    check_answer(uri)
    folder = Path(uri.removeprefix(SQLITE)).parent
    if os.environ.get(URI) and folder.name == local_folder(root).name and not folder.is_dir():
        raise ValueError(f"{URI}={uri}: no such folder; if the clone was moved, `unset {URI}`")
    if is_default(uri, root) and follow_move(folder):
        print(f"the clone was moved: its registry names the models in {folder} now", flush=True)
    before = {name: os.environ.get(name) for name in (URI, *QUIET)}
    os.environ.update({name: value for name, value in QUIET.items() if before[name] is None})
    import mlflow  # takes seconds, and reads the settings above

    if uri.startswith(SQLITE):
        folder.mkdir(parents=True, exist_ok=True)
    mlflow.set_tracking_uri(uri)  # also sets the variable
    try:
        yield mlflow.MlflowClient()
    finally:
        mlflow.set_tracking_uri(before[URI])
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def experiment(client: MlflowClient, root: Path, name: str) -> str:
    """Return the id of the experiment `name`, made if it is missing.

    The default store keeps artifacts beside its database, not in the working directory.
    """
    existing = client.get_experiment_by_name(name)
    if existing is not None:
        return str(existing.experiment_id)
    default = is_default(client.tracking_uri, root)
    location = (local_folder(root) / "artifacts").as_uri() if default else None
    return str(client.create_experiment(name, artifact_location=location))


def is_default(uri: str, root: Path) -> bool:
    """Tell whether an address is that of the main tree's own registry."""
    return uri == f"{SQLITE}{local_folder(root) / 'mlflow.db'}"


def local_folder(root: Path) -> Path:
    """Where the default registry lies, and what belongs to it."""
    return main_tree(root) / ".mlflow"
