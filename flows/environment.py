"""Environment variables that turn off telemetry and give slow machines time to start.

A command sets them before it imports Prefect; a value that the user has set is kept.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

LOG_FORMAT = "PREFECT_LOGGING_FORMATTERS_STANDARD"  # of the lines on the terminal
FONTS = "MPLCONFIGDIR"  # matplotlib's, in HOME by default; a stage runs in the root
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


def stage_environment() -> dict[str, str]:
    """Return the environment of a stage: the defaults, unbuffered, this interpreter first on PATH.

    Without PYTHONSAFEPATH a stage imports the code of the folder that it runs in.
    """
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"}
    own = {"DVC_NO_ANALYTICS": "1", "PYTHONUNBUFFERED": "1", "PATH": path}
    return {**DEFAULTS, FONTS: ".dvc/tmp/matplotlib", **kept, **own}
