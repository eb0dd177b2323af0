"""The registry: its address, whether its server answers, and addresses without their secrets.

The address is MLFLOW_TRACKING_URI, or one SQLite file in the main working tree. That default is an
absolute path, so that the git worktrees of the profiles share it; `rolecall models --address`
prints it. MLflow keeps the absolute paths of all artifacts in its database, so the default registry
of a clone that was moved, renamed or copied is mended.
"""

from __future__ import annotations

import os
import re
import socket
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

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
SECONDS = 4.0  # for a server's answer, before MLflow would wait minutes
PORTS = {"postgresql": 5432, "mysql": 3306, "mssql": 1433}  # of databases
ARTIFACTS = "/.mlflow/artifacts"
COLUMNS = (  # tables and columns of MLflow's database that hold paths
    ("experiments", "artifact_location"),
    ("runs", "artifact_uri"),
    ("logged_models", "artifact_location"),
    ("model_versions", "storage_location"),
)
USERS = (
    re.compile(r"(?<=://)[^\s/:@'\"]*:[^\s/'\"]*@"),  # user:password
    re.compile(r"(?<=http://|ttps://)[^\s/:@'\"]+@"),  # a token in place of the user
)
QUERY = re.compile(r"(\b[\w+.-]+://[^\s?'\"<>]*)\?[^\s'\"<>]+")  # a token, a signature


@contextmanager
def registry(root: Path) -> Iterator[MlflowClient]:
    """Open a client of the registry of `root`, which MLflow's own functions use meanwhile.

    Earlier settings come back afterwards; telemetry and progress bars are off unless the
    environment says otherwise. If the clone was moved, the default registry follows. A ValueError
    says that its server does not answer, or that the address is of a clone that is gone.
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
        for name in before:
            os.environ.pop(name, None)
        os.environ.update({name: value for name, value in before.items() if value is not None})


def experiment(client: MlflowClient, root: Path, name: str) -> str:
    """Return the id of the experiment `name`, made if it is missing.

    The default store keeps artifacts beside its database, not in the working directory.
    """
    if existing := client.get_experiment_by_name(name):
        return str(existing.experiment_id)
    default = is_default(client.tracking_uri, root)
    location = (local_folder(root) / "artifacts").as_uri() if default else None
    return str(client.create_experiment(name, artifact_location=location))


def tracking_uri(root: Path) -> str:
    """Return MLFLOW_TRACKING_URI if it is set, else the SQLite file of the main tree."""
    return os.environ.get(URI) or f"{SQLITE}{local_folder(root) / 'mlflow.db'}"


def is_default(uri: str, root: Path) -> bool:
    """Tell whether an address is that of the main tree's own registry."""
    return uri == f"{SQLITE}{local_folder(root) / 'mlflow.db'}"


def local_folder(root: Path) -> Path:
    """Return the folder of the default registry and of what belongs to it."""
    return main_tree(root) / ".mlflow"


def main_tree(root: Path) -> Path:
    """Return the main working tree of `root`'s repository, or `root` itself where there is none."""
    common = git(root, "rev-parse", "--path-format=absolute", "--git-common-dir").strip()
    return Path(common).parent if common else root.resolve()


def git(root: Path, *arguments: str) -> str:
    """Return what git says; nothing where there is no git, repository or commit."""
    command = ["git", *arguments]
    try:
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return done.stdout


def follow_move(folder: Path) -> bool:
    """Let the database in `folder` name the artifacts beside it; return whether it did not.

    All paths change together or none does. A database that has no tables yet stays as it is.
    """
    database, here = folder / "mlflow.db", (folder / "artifacts").as_uri()
    if not database.is_file():
        return False
    with closing(sqlite3.connect(database, timeout=60)) as connection, connection:
        tables = "SELECT count(*) FROM sqlite_master WHERE name = 'model_versions'"
        if connection.execute(tables).fetchone() == (0,):
            return False
        paths = connection.execute("SELECT DISTINCT artifact_location FROM experiments").fetchall()
        moved = [old for (old,) in paths if str(old).endswith(ARTIFACTS) and old != here]
        for old in moved:
            for table, column in COLUMNS:
                connection.execute(
                    f"UPDATE {table} SET {column} = :here || substr({column}, :length + 1) "
                    f"WHERE {column} = :old OR substr({column}, 1, :length + 1) = :old || '/'",
                    {"here": here, "old": old, "length": len(old)},
                )
    return bool(moved)


def check_answer(uri: str) -> None:
    """Return if `uri` is a file, or a server that answers anything at all within `SECONDS`.

    Else a ValueError names the masked address and what to do.
    """
    faults = ["no answer"]
    request = Thread(target=_ask, args=(uri, faults), daemon=True)  # a name may resolve slowly
    request.start()
    request.join(SECONDS + 1)
    if faults:
        raise ValueError(
            f"the tracking server {masked(uri)} cannot be used ({faults[-1]}): start it, correct "
            "MLFLOW_TRACKING_URI, or unset it to use the registry of this clone"
        )


def _ask(uri: str, faults: list[str]) -> None:
    """Clear `faults` when the server answers, if only with a refusal, or add why it does not."""
    try:
        address = urlsplit(uri)
        scheme = address.scheme.partition("+")[0]
        if scheme in ("http", "https"):
            host = address.netloc.rpartition("@")[2]
            health = f"{address.scheme}://{host}{address.path.rstrip('/')}/health"
            urlopen(Request(health), timeout=SECONDS).close()
        elif scheme in PORTS and address.hostname:
            server = (address.hostname, address.port or PORTS[scheme])
            socket.create_connection(server, SECONDS).close()
        faults.clear()
    except HTTPError:
        faults.clear()
    except (OSError, ValueError) as error:
        faults.append(masked(str(getattr(error, "reason", error))))


def masked(text: str) -> str:
    """Return a text whose addresses have `***` in place of users, passwords and queries."""
    return QUERY.sub(r"\1?***", masked_user(text)) if "://" in text else text


def masked_user(text: str) -> str:
    """Return a text whose addresses have `***` in place of users and passwords alone."""
    for user in USERS:
        text = user.sub("***@", text)
    return text
