"""The automation that tells of failed runs, made once and changed by its name."""

from __future__ import annotations

import pytest

from flows.failure import Failure
from flows.notification import FLOWS, NAME, notify_by

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def blocks(prefect_server: None) -> None:
    """Make two blocks that send messages, and one that does not."""
    from prefect.blocks.notifications import CustomWebhookNotificationBlock
    from prefect.blocks.system import Secret

    for name in ("team", "owner"):
        CustomWebhookNotificationBlock(name=name, url="http://127.0.0.1:1/").save(name)
    Secret(value="x").save("quiet")


def test_it_is_made_once_and_then_changed(blocks: None) -> None:
    from prefect.client.orchestration import get_client

    assert " made: custom-webhook/team reports failed runs of retrain, " in notify_by(
        "custom-webhook/team"
    )
    assert " changed: custom-webhook/owner reports" in notify_by("custom-webhook/owner")
    notify_by("custom-webhook/owner")
    with get_client(sync_client=True) as client:
        (automation,) = client.read_automations_by_name(NAME)
        owner = client.read_block_document_by_name("owner", "custom-webhook")
    (action,) = automation.actions
    assert action.block_document_id == owner.id  # type: ignore[union-attr]
    assert automation.trigger.match_related.root["prefect.resource.name"] == list(FLOWS)  # type: ignore
    assert automation.enabled


@pytest.mark.parametrize(
    ("block", "message"),
    [
        ("custom-webhook/nobody", "no block custom-webhook/nobody: `prefect block ls` lists"),
        ("team", "no block team: "),
        ("secret/quiet", "the block secret/quiet sends no messages: name one that does"),
    ],
)
def test_an_unknown_block_is_refused(blocks: None, block: str, message: str) -> None:
    with pytest.raises(Failure, match=message):
        notify_by(block)


def test_a_server_has_to_be_named() -> None:
    from prefect.settings import PREFECT_API_URL, temporary_settings

    message = "no server is named: start `rolecall schedule`"
    unnamed = temporary_settings(restore_defaults={PREFECT_API_URL})
    with unnamed, pytest.raises(Failure, match=message):
        notify_by("custom-webhook/team")
