"""The page that a failed run leaves in Prefect: the error message, and the command to go on.

Flows name `leave_page` as hook for failures and crashes. If the process was killed, Prefect's
worker calls the hook in its place.
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
from prefect.client.orchestration import get_client
from prefect.client.schemas.actions import ArtifactCreate
from prefect.client.schemas.objects import FlowRun
from prefect.client.schemas.responses import DeploymentResponse

from tasks.io.masked import masked

COMMANDS = ("rolecall", "cli.py")  # the file names of our command
PREFECT_PREFIX = re.compile(r"^Flow run encountered an exception: (?:\w*Fail\w*: )?")


def leave_page(flow: Flow[..., Any], flow_run: FlowRun, state: State[Any]) -> None:
    """Write the artifact `failed-FLOW` of a run that has come to this state."""
    with get_client(sync_client=True) as client:
        deployment_id = flow_run.deployment_id
        deployment = client.read_deployment(deployment_id) if deployment_id else None
        client.create_artifact(
            ArtifactCreate(
                key=f"failed-{flow.name}",
                type="markdown",
                description=f"Why {flow_run.name} failed, and how to continue",
                data=as_markdown(flow.name, flow_run, state, deployment),
                flow_run_id=flow_run.id,
            )
        )


def as_markdown(
    name: str, run: FlowRun, state: State[Any], deployment: DeploymentResponse | None
) -> str:
    """Write what to do about a run of the flow `name`."""
    by_command = deployment is None and Path(sys.argv[0]).name in COMMANDS
    log = str(Path.cwd() / "logs" / f"{name}.log")
    return "\n\n".join(
        [
            f"# {name}: {(state.name or 'Failed').lower()}",
            _indented(PREFECT_PREFIX.sub("", state.message or "The run left no message.")),
            f"The run worked in `{Path.cwd()}` on `{socket.gethostname()}`. Its full log:",
            _indented(log if by_command else f"prefect flow-run logs {run.id}"),
            "If the message says what to do, do that first. This command continues the run:",
            _indented(command(name, run.parameters, deployment)),
        ]
    )


def command(name: str, parameters: Mapping[str, Any], deployment: DeploymentResponse | None) -> str:
    """Return the command that starts the same run again."""
    if deployment is not None:
        defaults = deployment.parameters or {}
        changed = sorted(key for key in parameters if defaults.get(key) != parameters[key])
        options = [word for key in changed for word in ("-p", f"{key}={_json(parameters[key])}")]
        return shlex.join(["prefect", "deployment", "run", f"{name}/{deployment.name}", *options])
    if Path(sys.argv[0]).name in COMMANDS:
        return masked(shlex.join(["rolecall", *sys.argv[1:]]))
    return f"the flow {name} with {json.dumps(dict(parameters), default=str)}"


def _json(value: object) -> str:
    """Write a parameter as `prefect deployment run` reads it: JSON, or plain text if that fails."""
    if isinstance(value, str):
        try:
            json.loads(value)
        except ValueError:
            return value
    return json.dumps(value, default=str)


def _indented(text: str) -> str:
    """Indent every line, so that Markdown takes no character for markup."""
    return textwrap.indent(text, "    ", lambda _: True)
