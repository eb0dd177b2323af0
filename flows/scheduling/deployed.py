"""The work pool and the deployments on Prefect's server: made ready, and when they run next."""

from __future__ import annotations

import time
from collections.abc import Iterable
from datetime import datetime

from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.client.schemas.actions import WorkPoolCreate
from prefect.client.schemas.filters import (
    DeploymentFilter,
    DeploymentFilterId,
    FlowRunFilter,
    FlowRunFilterState,
    FlowRunFilterStateType,
)
from prefect.client.schemas.objects import StateType
from prefect.client.schemas.responses import DeploymentResponse
from prefect.client.schemas.sorting import FlowRunSort
from prefect.exceptions import ObjectNotFound
from prefect.states import Crashed
from prefect.workers.process import ProcessWorker

POOL = "rolecall"  # as in prefect.yaml
BEGUN = (StateType.PENDING, StateType.RUNNING, StateType.CANCELLING)
SECONDS_TO_PLAN = 60.0  # until the server has planned the next runs


def prepare_pool() -> str:
    """Make the work pool if it is missing, and return its name.

    No worker runs yet. So runs that have begun were killed with their worker; they are marked as
    crashed, because each would hold up the later runs of its deployment.
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
    return POOL


def next_runs() -> dict[str, str]:
    """Return FLOW/DEPLOYMENT -> when it runs next, in UTC, of all deployments by name.

    The server plans runs some seconds after the deployment.
    """
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
    runs = client.read_flow_runs(
        deployment_filter=DeploymentFilter(id=DeploymentFilterId(any_=[deployment.id])),
        flow_run_filter=_in_state([StateType.SCHEDULED]),
        sort=FlowRunSort.EXPECTED_START_TIME_ASC,
        limit=1,
    )
    return runs[0].expected_start_time if runs else None


def _in_state(types: Iterable[StateType]) -> FlowRunFilter:
    return FlowRunFilter(state=FlowRunFilterState(type=FlowRunFilterStateType(any_=list(types))))
