"""Who is told when a run fails: an automation in Prefect, by a notification block of the owner's.

The block (Slack, e-mail, a webhook …) is made on Prefect's pages or by its class and holds the
secrets; here it is named as `prefect block ls` shows it, for example `slack-webhook/team`. The
automation is known by its name: made once, and changed when it is asked for again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from prefect.client.orchestration import get_client
from prefect.events.actions import SendNotification
from prefect.events.schemas.automations import AutomationCore, EventTrigger, Posture
from prefect.exceptions import ObjectNotFound
from prefect.settings import PREFECT_API_URL

from flows.failure import Failure

if TYPE_CHECKING:
    from uuid import UUID

    from prefect.client.orchestration import SyncPrefectClient

NAME = "rolecall: a run has failed"
FLOWS = ("retrain", "reproduce", "normalize", "normalize-folder", "feedback", "review")
STATES = ("Failed", "Crashed", "TimedOut")
NOTIFIES = "notify"
"""What a block can do that sends messages."""
SUBJECT = "rolecall: {{ flow.name }} {{ flow_run.state.name }}"
BODY = """{{ flow_run.state.message }}

What to do: artifact failed-{{ flow.name }} of the run {{ flow_run.name }}, {{ flow_run|ui_url }}"""


def notify_by(block: str) -> str:
    """Let a block tell of every failed run; return in a sentence what was done.

    Args:
        block: TYPE/NAME, its type's slug and its own name.

    Raises:
        Failure: there is no server, no such block, or it sends no messages.
    """
    if not PREFECT_API_URL.value():
        raise Failure(
            "no server is named: set PREFECT_API_URL to that of `prefect server start`, such as "
            "http://127.0.0.1:4200/api"
        )
    with get_client(sync_client=True) as client:
        wanted = automation(_block_id(client, block))
        known = client.read_automations_by_name(NAME)
        if known:
            client.update_automation(known[0].id, wanted)
        else:
            client.create_automation(wanted)
    did = "changed" if known else "made"
    return f"automation {NAME!r} {did}: {block} tells of runs of {', '.join(FLOWS)} that fail"


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
    help_ = "`prefect block ls` lists them as TYPE/NAME; Prefect's page Blocks makes one"
    try:
        found = client.read_block_document_by_name(name, kind, include_secrets=False)
    except ObjectNotFound:
        raise Failure(f"no block {block}: {help_}") from None
    can = found.block_schema.capabilities if found.block_schema else []
    if NOTIFIES not in can:
        raise Failure(f"the block {block} sends no messages: name one that does; {help_}")
    return found.id
