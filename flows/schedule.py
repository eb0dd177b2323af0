"""Server, deployments and worker of the schedules in `prefect.yaml`, for the time of a block.

They are child processes, and end with this one. The server's database stays in the main tree; the
password beside it opens the server, which only this machine reaches. `schedule_settings` must be in
the environment before this module is imported: Prefect's client reads its settings then.
"""

from __future__ import annotations

import fcntl
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from datetime import datetime
from pathlib import Path

from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.client.schemas.actions import WorkPoolCreate
from prefect.client.schemas.filters import DeploymentFilter, FlowRunFilter
from prefect.client.schemas.objects import StateType
from prefect.client.schemas.responses import DeploymentResponse
from prefect.client.schemas.sorting import FlowRunSort
from prefect.exceptions import ObjectNotFound
from prefect.states import Crashed
from prefect.workers.process import ProcessWorker

from flows.environment import HOST, SCHEDULE, schedule_settings
from flows.errors import Failure
from flows.processes import guarded, run_module, show_line
from flows.server import serving
from tasks.io.tracking import main_tree

LOGS = {name: Path(f"logs/schedule_{name}.log") for name in ("server", "worker")}
SECONDS_TO_END = 10.0  # for the worker to end the runs at work
POOL = "rolecall"  # as in prefect.yaml
BEGUN = (StateType.PENDING, StateType.RUNNING, StateType.CANCELLING)
SECONDS_TO_PLAN = 60.0  # until the server has planned the next runs
Processes = Mapping[str, subprocess.Popen[str]]


@contextmanager
def scheduling(root: Path, port: int) -> Iterator[Processes]:
    """Deploy `root` and run server and worker for the time of the block; Failure if it cannot."""
    main = main_tree(root)
    settings = schedule_settings(main, port)
    with _only_one(main / SCHEDULE), ExitStack() as ends:
        _refuse_taken(port)
        show_line("starting Prefect's server ...")
        (root / "logs").mkdir(exist_ok=True)
        logs = {name: ends.enter_context((root / log).open("wb")) for name, log in LOGS.items()}
        server = ends.enter_context(serving(port, settings, logs["server"].fileno()))
        prepare_pool()
        show_line("deploying prefect.yaml ...")
        run_module("prefect", ["--no-prompt", "deploy", "--all"], root, name="prefect deploy")
        show_line("starting the worker ...")
        command = [sys.executable, "-m", "prefect", "worker", "start", "--pool", POOL]
        log = logs["worker"].fileno()
        worker = guarded(command, root, stdout=log, seconds_to_end=SECONDS_TO_END)
        yield {"server": server, "worker": ends.enter_context(worker)}


def watch(processes: Processes) -> None:
    """Wait as long as all processes run; the Failure names the log of the one that ended."""
    while True:
        for name, process in processes.items():
            if process.poll() is not None:
                raise Failure(f"Prefect's {name} ended: {LOGS[name]} says why")
        time.sleep(0.5)


def prepare_pool() -> None:
    """Make the work pool if it is missing, and mark runs that have begun as crashed.

    No worker runs yet, so they were killed; each would hold up later runs of its deployment.
    """
    with get_client(sync_client=True) as client:
        try:
            client.read_work_pool(POOL)
        except ObjectNotFound:
            template = ProcessWorker.get_default_base_job_template()
            new = WorkPoolCreate(name=POOL, type="process", base_job_template=template)
            client.create_work_pool(new)
        for run in client.read_flow_runs(flow_run_filter=_in_state(BEGUN)):
            client.set_flow_run_state(run.id, Crashed(message="its worker ended"), force=True)


def next_runs() -> dict[str, str]:
    """Return FLOW/DEPLOYMENT -> its next run in UTC; the server plans runs after some seconds."""
    limit = time.monotonic() + SECONDS_TO_PLAN
    times = {}
    with get_client(sync_client=True) as client:
        for one in client.read_deployments():
            name = f"{client.read_flow(one.flow_id).name}/{one.name}"
            planned = not one.paused and any(schedule.active for schedule in one.schedules)
            while not (at := _next(client, one)) and planned and time.monotonic() < limit:
                time.sleep(0.5)
            times[name] = f"{at:%A %Y-%m-%d %H:%M} UTC" if at else "not planned"
    return dict(sorted(times.items()))


def _next(client: SyncPrefectClient, deployment: DeploymentResponse) -> datetime | None:
    of_it = DeploymentFilter.model_validate({"id": {"any_": [deployment.id]}})
    planned, first = _in_state([StateType.SCHEDULED]), FlowRunSort.EXPECTED_START_TIME_ASC
    runs = client.read_flow_runs(
        deployment_filter=of_it, flow_run_filter=planned, sort=first, limit=1
    )
    return runs[0].expected_start_time if runs else None


def _in_state(types: Iterable[StateType]) -> FlowRunFilter:
    return FlowRunFilter.model_validate({"state": {"type": {"any_": list(types)}}})


@contextmanager
def _only_one(home: Path) -> Iterator[None]:
    """Hold the lock of a folder, which is made, for the time of the block."""
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    with (home / "lock").open("a+", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            raise Failure(
                f"`rolecall schedule` runs already, as process {lock.read().strip()}: end that one "
                "first (Ctrl-C where it runs)"
            ) from None
        lock.truncate(0)
        print(os.getpid(), file=lock, flush=True)
        yield


def _refuse_taken(port: int) -> None:
    with closing(socket.socket()) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except (OSError, OverflowError) as error:
            by = _listener(port)
            raise Failure(
                f"{HOST}:{port} cannot be used: {error}{by}; choose another port: "
                f"rolecall schedule --port {port + 1 if 0 < port < 65535 else 4201}"
            ) from None


def _listener(port: int) -> str:
    """Name the process that listens at a port, if this user may know."""
    import psutil

    try:
        taken = [one for one in psutil.net_connections("tcp") if one.laddr[1:] == (port,)]
        name = psutil.Process(taken[0].pid).name()
    except (psutil.Error, IndexError, TypeError):
        return ""
    return f" by process {taken[0].pid} ({name})"
