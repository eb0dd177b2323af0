"""Flow runs in Prefect: their steps and pages, the page of a failed one, messages about failures.

A step becomes a task run, and what it prints a line of that run's log. Flows name `leave_page` as
hook for failures and crashes; if the process was killed, Prefect's worker calls it. Messages are
sent by one automation, which uses a notification block: the owner makes it (Slack, e-mail, a
webhook) on Prefect's pages, and it holds the secrets.
"""

from __future__ import annotations

import json
import logging
import re
import shlex
import socket
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar
from uuid import UUID

from prefect import Flow, State, get_run_logger, task
from prefect.artifacts import create_markdown_artifact
from prefect.cache_policies import NO_CACHE
from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.client.schemas.actions import ArtifactCreate
from prefect.client.schemas.objects import FlowRun
from prefect.client.schemas.responses import DeploymentResponse
from prefect.events.actions import SendNotification
from prefect.events.schemas.automations import AutomationCore, EventTrigger, Posture
from prefect.exceptions import ObjectNotFound
from prefect.settings import PREFECT_API_URL

from flows.dvc_plan import Outcome, plan_and_skipped
from flows.errors import ERROR_STARTS, Failure
from flows.processes import check_params
from flows.stages import repro, run_stage
from tasks.io.command import markdown_table
from tasks.io.tracking import masked

COMMANDS = ("rolecall", "cli.py")  # the file names of our command
PREFECT_PREFIX = re.compile(r"^Flow run encountered an exception: (?:\w*Fail\w*: )?")
AUTOMATION = "rolecall: a run has failed"
FLOWS = ("retrain", "reproduce", "normalize-folder", "apply-feedback")
STATES = ("Failed", "Crashed", "TimedOut")
SUBJECT = "rolecall: {{ flow.name }} {{ flow_run.state.name }}"
BODY = """{{ flow_run.state.message }}

What to do: artifact failed-{{ flow.name }} of the run {{ flow_run.name }}, {{ flow_run|ui_url }}"""
T = TypeVar("T")


def step(name: str, function: Callable[..., T], *arguments: Any) -> T:  # noqa: ANN401
    """Call a function in this thread, so that it cancels, as a task run of this name.

    DVC and the registry know what is done already, so Prefect neither caches nor retries.
    """
    as_task = task(task_run_name=name, cache_policy=NO_CACHE, persist_result=False, log_prints=True)
    result: T = as_task(function)(*arguments)
    return result


def run_stages(root: Path, target: str) -> dict[str, Outcome]:
    """Run `target`'s stages in DVC's order; if any would run, `params.yaml` is checked first."""
    plan, skipped = plan_and_skipped(root, target)
    log = get_run_logger()
    log.info("the first %d of %d stages are up to date", len(skipped), len(plan))
    outcomes: dict[str, Outcome] = dict.fromkeys(skipped, "unchanged")
    if rest := plan[len(skipped) :]:
        check_params(root)
        with repro(root, rest) as stages:
            for stage, lines in stages:
                log.info("stage %d of %d  %s ...", plan.index(stage) + 1, len(plan), stage)
                outcomes[stage] = step(stage, _logged_stage, stage, lines)
    return outcomes


def _logged_stage(stage: str, lines: Iterator[str]) -> Outcome:
    """Log a stage's lines, from an error message on at level ERROR."""
    log, level = get_run_logger(), logging.INFO

    def show(line: str) -> None:
        nonlocal level
        if line.startswith(ERROR_STARTS):
            level = logging.ERROR
        log.log(level, "%s", line)

    return run_stage(stage, lines, show)


def publish(key: str, facts: Mapping[str, str], description: str) -> None:
    """Write facts as an artifact of the current run."""
    table = markdown_table(("", key), facts.items())
    create_markdown_artifact(key=key, markdown=table, description=description)


def leave_page(flow: Flow[..., Any], flow_run: FlowRun, state: State[Any]) -> None:
    """Write the artifact `failed-FLOW` of a run that has come to this state."""
    with get_client(sync_client=True) as client:
        deployment_id = flow_run.deployment_id
        deployment = client.read_deployment(deployment_id) if deployment_id else None
        page = failure_page(flow.name, flow_run, state, deployment)
        artifact = ArtifactCreate(key=f"failed-{flow.name}", type="markdown", data=page)
        artifact.description = f"Why {flow_run.name} failed, and how to continue"
        artifact.flow_run_id = flow_run.id
        client.create_artifact(artifact)


def failure_page(
    name: str, run: FlowRun, state: State[Any], deployment: DeploymentResponse | None
) -> str:
    """Write what to do about a run of the flow `name`."""
    by_command = deployment is None and Path(sys.argv[0]).name in COMMANDS
    log = f"{Path.cwd()}/logs/{name}.log" if by_command else f"prefect flow-run logs {run.id}"
    return "\n\n".join(
        [
            f"# {name}: {(state.name or 'Failed').lower()}",
            _indented(PREFECT_PREFIX.sub("", state.message or "The run left no message.")),
            f"The run worked in `{Path.cwd()}` on `{socket.gethostname()}`. Its full log:",
            _indented(log),
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


def notify_by(block: str) -> str:
    """Let a block (TYPE/NAME) report every failed run; Failure without a server or such a block."""
    if not PREFECT_API_URL.value():
        raise Failure(
            "no server is named: start `rolecall schedule`, and set PREFECT_API_URL and "
            "PREFECT_API_AUTH_STRING as docs/guides/scheduling.md says"
        )
    with get_client(sync_client=True) as client:
        automation = _automation(_block_id(client, block))
        if present := client.read_automations_by_name(AUTOMATION):
            client.update_automation(present[0].id, automation)
        else:
            client.create_automation(automation)
    verb = "changed" if present else "made"
    return f"automation {AUTOMATION!r} {verb}: {block} reports failed runs of {', '.join(FLOWS)}"


def _automation(block_id: UUID) -> AutomationCore:
    trigger = EventTrigger(
        expect={f"prefect.flow-run.{state}" for state in STATES},
        match={"prefect.resource.id": "prefect.flow-run.*"},
        match_related={"prefect.resource.role": "flow", "prefect.resource.name": list(FLOWS)},
        for_each={"prefect.resource.id"},
        posture=Posture.Reactive,
        threshold=1,
    )
    message = SendNotification(block_document_id=block_id, subject=SUBJECT, body=BODY)
    text = "Made by `rolecall notify`, which can change it."
    return AutomationCore(name=AUTOMATION, description=text, trigger=trigger, actions=[message])


def _block_id(client: SyncPrefectClient, block: str) -> UUID:
    kind, _, name = block.partition("/")
    advice = "`prefect block ls` lists them as TYPE/NAME; Prefect's page Blocks makes one"
    try:
        document = client.read_block_document_by_name(name, kind, include_secrets=False)
    except ObjectNotFound:
        raise Failure(f"no block {block}: {advice}") from None
    if "notify" not in (document.block_schema.capabilities if document.block_schema else []):
        raise Failure(f"the block {block} sends no messages: name one that does; {advice}")
    return document.id
