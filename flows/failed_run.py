"""The page that a run leaves in Prefect when it fails: its last words, and the command to go on.

Flows name `leave_page` for failures (a time-out is one) and crashes; the artifact is called
`failed-NAME`, NAME being the flow's, and is the run's own. Of a process that was killed the worker
says so, and calls the hook in its place. What the words say to do is the business of whoever raised
them (`flows/failure.py`).
"""

from __future__ import annotations

import json
import re
import shlex
import socket
import sys
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from prefect import Flow, State
from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.client.schemas.actions import ArtifactCreate
from prefect.client.schemas.objects import FlowRun
from prefect.client.schemas.responses import DeploymentResponse

COMMANDS = ("rolecall", "cli.py")
"""What `rolecall` is called as the first word of a process."""
SAID_BY_PREFECT = re.compile(r"^Flow run encountered an exception: (?:\w*Fail\w*: )?")
LOGS = Path("logs")


def leave_page(flow: Flow[..., Any], flow_run: FlowRun, state: State[Any]) -> None:
    """Write the artifact `failed-NAME` of a run that has come to this state."""
    with get_client(sync_client=True) as client:
        deployment = _deployment(client, flow_run)
        client.create_artifact(
            ArtifactCreate(
                key=f"failed-{flow.name}",
                type="markdown",
                description=f"What happened to {flow_run.name}, and how it goes on",
                data=as_markdown(flow.name, flow_run, state, deployment),
                flow_run_id=flow_run.id,
            )
        )


def _deployment(client: SyncPrefectClient, run: FlowRun) -> DeploymentResponse | None:
    return client.read_deployment(run.deployment_id) if run.deployment_id else None


def as_markdown(
    name: str, run: FlowRun, state: State[Any], deployment: DeploymentResponse | None
) -> str:
    """Write what to do about a run of the flow `name`."""
    words = SAID_BY_PREFECT.sub("", state.message or "nothing was said")
    by_command = deployment is None and Path(sys.argv[0]).name in COMMANDS
    told = f"prefect flow-run logs {run.id}"
    if by_command:
        told = str(Path.cwd() / LOGS / f"{name}.log")
    return "\n\n".join(
        [
            f"# {name}: {(state.name or 'Failed').lower()}",
            _quoted(words),
            f"It ran in `{Path.cwd()}` on `{socket.gethostname()}`. Everything that was said:",
            _quoted(told),
            "Where its last words say what to do, do that first. This goes on where it stopped:",
            _quoted(command(name, run.parameters, deployment)),
        ]
    )


def command(name: str, parameters: Mapping[str, Any], deployment: DeploymentResponse | None) -> str:
    """Return the command that starts the same once more."""
    if deployment is not None:
        stated = deployment.parameters or {}
        changed = sorted(key for key in parameters if stated.get(key) != parameters[key])
        words = [word for key in changed for word in ("-p", f"{key}={_word(parameters[key])}")]
        return shlex.join(["prefect", "deployment", "run", f"{name}/{deployment.name}", *words])
    if Path(sys.argv[0]).name in COMMANDS:
        return shlex.join(["rolecall", *sys.argv[1:]])
    return f"the flow {name} with {json.dumps(dict(parameters), default=str)}"


def _word(value: object) -> str:
    """Write a parameter as `prefect deployment run` reads it: JSON, or else text."""
    if isinstance(value, str):
        try:
            json.loads(value)
        except ValueError:
            return value
    return json.dumps(value, default=str)


def _quoted(text: str) -> str:
    """Indent, so that no character of it is markup."""
    return textwrap.indent(text, "    ", lambda _: True)
