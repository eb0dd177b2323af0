"""Messages about failed runs: one Prefect automation that uses the owner's notification block.

The owner makes the block (Slack, e-mail, a webhook …) on Prefect's pages; it holds the secrets. A
second call finds the automation by its name and changes it.
"""

from __future__ import annotations

from uuid import UUID

from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.events.actions import SendNotification
from prefect.events.schemas.automations import AutomationCore, EventTrigger, Posture
from prefect.exceptions import ObjectNotFound
from prefect.settings import PREFECT_API_URL

from flows.failure import Failure

NAME = "rolecall: a run has failed"
FLOWS = ("retrain", "reproduce", "normalize", "normalize-folder", "apply-feedback", "review")
STATES = ("Failed", "Crashed", "TimedOut")
SUBJECT = "rolecall: {{ flow.name }} {{ flow_run.state.name }}"
BODY = """{{ flow_run.state.message }}

What to do: artifact failed-{{ flow.name }} of the run {{ flow_run.name }}, {{ flow_run|ui_url }}"""


def notify_by(block: str) -> str:
    """Let a block (TYPE/NAME) report every failed run; return a sentence that confirms it.

    Raises:
        Failure: there is no server, no such block, or the block sends no messages.
    """
    if not PREFECT_API_URL.value():
        raise Failure(
            "no server is named: start `rolecall schedule`, and set PREFECT_API_URL and "
            "PREFECT_API_AUTH_STRING as docs/guides/scheduling.md says"
        )
    with get_client(sync_client=True) as client:
        changed = automation(_block_id(client, block))
        present = client.read_automations_by_name(NAME)
        if present:
            client.update_automation(present[0].id, changed)
        else:
            client.create_automation(changed)
    verb = "changed" if present else "made"
    return f"automation {NAME!r} {verb}: {block} reports failed runs of {', '.join(FLOWS)}"


def automation(block_id: UUID) -> AutomationCore:
    """Return the automation that sends a message by a block."""
    trigger = EventTrigger(
        expect={f"prefect.flow-run.{state}" for state in STATES},
        match={"prefect.resource.id": "prefect.flow-run.*"},
        match_related={"prefect.resource.role": "flow", "prefect.resource.name": list(FLOWS)},
        for_each={"prefect.resource.id"},
        posture=Posture.Reactive,
        threshold=1,
    )
    message = SendNotification(block_document_id=block_id, subject=SUBJECT, body=BODY)
    return AutomationCore(
        name=NAME,
        description="Made by `rolecall notify`, which can change it.",
        trigger=trigger,
        actions=[message],
    )


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
