"""Environment variables: no telemetry, time to start, local servers without proxy, own folders.

A command sets them before it imports Prefect; a value that the user has set is kept.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

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
LOOPBACK = ("127.0.0.1", "localhost")


def set_environment(clone: Path | None) -> None:
    """Set the variables of a command in `clone`, or in none.

    DVC's notes on files and, if the home folder cannot be written, those of Prefect and matplotlib
    lie in the clone, where no other user's are.
    """
    folders = dict(_folders(clone)) if clone else {}
    os.environ.update({**DEFAULTS, **folders, **os.environ})
    os.environ.update(without_proxy(os.environ))
    for name in _useless_proxies(os.environ):
        del os.environ[name]


def without_proxy(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that keep requests to this machine away from a proxy."""
    given = environment.get("no_proxy") or environment.get("NO_PROXY") or ""
    hosts = [host for host in given.split(",") if host] if given != "*" else []
    value = given if given == "*" else ",".join(dict.fromkeys([*hosts, *LOOPBACK]))
    return {"no_proxy": value, "NO_PROXY": value}


def _useless_proxies(environment: Mapping[str, str]) -> list[str]:
    """List SOCKS proxies, if no package for them is here: Prefect's client would not even start."""
    if find_spec("socksio"):
        return []
    named = [name for name in environment if name.lower().endswith("_proxy")]
    return [name for name in named if environment[name].startswith("socks")]


def _folders(clone: Path) -> Iterator[tuple[str, str]]:
    yield "DVC_SITE_CACHE_DIR", str(clone / ".dvc/tmp/site")
    if not _can_write_home():
        yield "PREFECT_HOME", str(clone / ".prefect")
        yield "MPLCONFIGDIR", str(clone / ".prefect/matplotlib")


def _can_write_home() -> bool:
    with suppress(RuntimeError):  # nobody says where it is
        home = Path.home()
        place = home / ".prefect" if (home / ".prefect").exists() else home
        return os.access(place, os.W_OK | os.X_OK)
    return False


def stage_environment() -> dict[str, str]:
    """Return the environment of a stage: the defaults, unbuffered, this interpreter first on PATH.

    Without PYTHONSAFEPATH a stage imports the code of the folder that it runs in.
    """
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"}
    fixed = {"DVC_NO_ANALYTICS": "1", "PYTHONUNBUFFERED": "1", "PATH": path}
    return {**DEFAULTS, **kept, **without_proxy(kept), **fixed}
