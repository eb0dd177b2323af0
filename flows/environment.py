"""The clone that a command works in, and environment variables: quiet, local, protected.

A command sets them before it imports Prefect, DVC and MLflow, which read them then; a value that
the user has set is kept. Prefect's servers get a password: without one Prefect answers every page
that a browser shows, and a deployment holds a command.
"""

from __future__ import annotations

import os
import secrets
import sys
from collections.abc import Mapping
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import yaml

MARKS = ("dvc.yaml", "params.yaml")
WORKSPACES = ".workspaces"  # a folder in the main tree, of profiles' worktrees
LOG_FORMAT = "PREFECT_LOGGING_FORMATTERS_STANDARD"  # of the lines on the terminal
DEFAULTS: Mapping[str, str] = {
    "DO_NOT_TRACK": "true",  # MLflow ignores `1`
    "DVC_NO_ANALYTICS": "1",
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "ORT_DISABLE_TELEMETRY": "1",
    "TORCH_CPP_LOG_LEVEL": "ERROR",  # the exporter's remarks on shapes
    "OMP_WAIT_POLICY": "PASSIVE",  # threads that spin while they wait starve on a busy machine
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": "90",
    f"{LOG_FORMAT}_FLOW_RUN_FMT": "%(asctime)s  %(message)s",
    f"{LOG_FORMAT}_TASK_RUN_FMT": "%(asctime)s  %(task_run_name)s: %(message)s",
}
HOST = "127.0.0.1"
SCHEDULE, PASSWORD = Path(".prefect/schedule"), Path(".prefect/password")  # in the main tree


def profile_of(root: Path) -> str:
    """Return the profile whose workspace `root` is; empty for a main tree."""
    return root.name if root.parent.name == WORKSPACES else ""


def enclosing_root() -> Path | None:
    """Return the nearest folder from here up that holds a pipeline; of a workspace its clone."""
    here = Path.cwd()
    for folder in (here, *here.parents):
        if all((folder / mark).is_file() for mark in MARKS):
            return folder.parents[1] if profile_of(folder) else folder
    return None


def read_params(root: Path) -> dict[str, Any]:
    """Return the content of `params.yaml`."""
    return dict(yaml.safe_load((root / "params.yaml").read_text(encoding="utf-8")))


def set_environment(clone: Path | None) -> None:
    """Set the variables of a command; what tools keep lies in `clone`, where no other user's is."""
    folders = {"DVC_SITE_CACHE_DIR": f"{clone}/.dvc/tmp/site"} if clone else {}
    if clone and not _can_write_home():
        folders["PREFECT_HOME"] = f"{clone}/.prefect"
        folders["MPLCONFIGDIR"] = f"{clone}/.prefect/matplotlib"
    os.environ.update({**DEFAULTS, **folders, **os.environ})
    os.environ.update(without_proxy(os.environ))
    if not find_spec("socksio"):  # without it Prefect's client fails at a SOCKS proxy
        for name, value in [*os.environ.items()]:
            if name.lower().endswith("_proxy") and value.startswith("socks"):
                del os.environ[name]


def without_proxy(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that keep requests to this machine away from a proxy."""
    value = environment.get("no_proxy") or environment.get("NO_PROXY") or ""
    if value != "*":
        value = ",".join(dict.fromkeys([*filter(None, value.split(",")), HOST, "localhost"]))
    return {"no_proxy": value, "NO_PROXY": value}


def _can_write_home() -> bool:
    with suppress(RuntimeError):  # the system knows no home folder
        home = Path.home()
        folder = home / ".prefect" if (home / ".prefect").exists() else home
        return os.access(folder, os.W_OK | os.X_OK)
    return False


def stage_environment() -> dict[str, str]:
    """Return the environment of a stage: the defaults, unbuffered, this interpreter first on PATH.

    Without PYTHONSAFEPATH a stage imports the code of the folder that it runs in.
    """
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"}
    fixed = {"DVC_NO_ANALYTICS": "1", "PYTHONUNBUFFERED": "1", "PATH": path}
    return {**DEFAULTS, **kept, **without_proxy(kept), **fixed}


def new_password() -> str:
    """Draw a user's name and password, as Prefect takes them."""
    return f"rolecall:{secrets.token_urlsafe(24)}"


def kept_password(file: Path) -> str:
    """Return the password in `file`, which only its owner can read; make it if it is missing."""
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    file.touch(0o600)
    file.chmod(0o600)
    with file.open("r+", encoding="utf-8") as text:
        password = text.read().strip() or new_password()
        text.seek(0)
        text.write(password + "\n")
    return password


def client_settings(port: int, password: str) -> dict[str, str]:
    """Return Prefect's settings of a client of the server at a port."""
    return {"PREFECT_API_URL": f"http://{HOST}:{port}/api", "PREFECT_API_AUTH_STRING": password}


def server_settings(home: Path, port: int, password: str) -> dict[str, str]:
    """Return Prefect's settings of that server and its client; its own pages alone read answers."""
    return client_settings(port, password) | {
        "PREFECT_HOME": str(home),
        "PREFECT_SERVER_DATABASE_CONNECTION_URL": f"sqlite+aiosqlite:///{home}/prefect.db",
        "PREFECT_SERVER_API_AUTH_STRING": password,
        "PREFECT_SERVER_CORS_ALLOWED_ORIGINS": f"http://{HOST}:{port},http://localhost:{port}",
    }


def schedule_settings(main: Path, port: int) -> dict[str, str]:
    """Return Prefect's settings for the server, the worker and the client of the schedules."""
    return server_settings(main / SCHEDULE, port, kept_password(main / PASSWORD))
