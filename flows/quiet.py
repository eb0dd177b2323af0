"""Environment in which Prefect, DVC and MLflow send nothing home and start-up is given time.

`DO_NOT_TRACK` holds the word, because MLflow ignores `1`. Prefect reads its settings when it is
imported, so a command applies these before that; a value that the user has set is kept.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

FORMAT = "PREFECT_LOGGING_FORMATTERS_STANDARD"  # of the lines on the terminal
QUIET: Mapping[str, str] = {
    "DO_NOT_TRACK": "true",
    "DVC_NO_ANALYTICS": "1",
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "TORCH_CPP_LOG_LEVEL": "ERROR",  # the exporter's remarks on shapes
    "OMP_WAIT_POLICY": "PASSIVE",  # threads that spin while they wait starve on a busy machine
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": "90",
    f"{FORMAT}_FLOW_RUN_FMT": "%(asctime)s  %(message)s",
    f"{FORMAT}_TASK_RUN_FMT": "%(asctime)s  %(task_run_name)s: %(message)s",
}


def stage_environment() -> dict[str, str]:
    """Return a stage's environment: quiet, unbuffered, this interpreter's folder first on PATH.

    Modules come from the folder that the stage runs in, a workspace's own before installed ones.

    `dvc.yaml` says `python -m tasks.x`: with the folder first that is the interpreter of the flow,
    whether or not the virtual environment was activated.
    """
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"}
    return {**QUIET, **kept, "DVC_NO_ANALYTICS": "1", "PYTHONUNBUFFERED": "1", "PATH": path}
