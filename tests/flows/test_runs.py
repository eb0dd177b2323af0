"""The page of a failed run, a command that can be typed, and the automation that tells of it."""

import sys
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest

from flows.errors import Failure
from flows.runs import AUTOMATION, FLOWS, command, failure_page, notify_by

ID = UUID("00000000-0000-0000-0000-000000000007")
MONTHLY: Any = SimpleNamespace(name="monthly", parameters={"profile": "", "options": {}})


def page(message: str | None, deployment: Any = None, name: str = "Failed") -> str:
    run: Any = SimpleNamespace(id=ID, name="quick-fox", parameters={"profile": "mine"})
    state: Any = SimpleNamespace(message=message, name=name)
    return failure_page("retrain", run, state, deployment)


def test_a_failure_s_own_words_stand_without_prefect_s() -> None:
    message = "StageFailed: stage train failed\nfeedback: | line 3 ```\n# remove it"
    text = page(f"Flow run encountered an exception: {message}", MONTHLY)
    assert text.startswith(
        "# retrain: failed\n\n    stage train failed\n    feedback: | line 3 ```\n    # remove it\n"
    )
    assert f"    prefect flow-run logs {ID}\n" in text
    assert text.endswith("    prefect deployment run retrain/monthly -p profile=mine")


def test_of_other_errors_the_kind_stays() -> None:
    text = page("Flow run encountered an exception: KeyError: 'x'")
    assert "    KeyError: 'x'\n" in text
    assert "# retrain: timedout\n" in page(None, name="TimedOut")


@pytest.mark.parametrize(
    ("parameters", "options"),
    [
        ({"profile": "", "options": {}}, ""),
        ({"profile": "mine", "options": {"k": 2}}, """ -p 'options={"k": 2}' -p profile=mine"""),
        ({"profile": "7", "options": {}}, """ -p 'profile="7"'"""),
        ({"profile": "a b", "options": None}, " -p options=null -p 'profile=a b'"),
    ],
)
def test_the_command_of_a_deployment_names_what_is_not_its_own(parameters, options) -> None:
    """As `prefect deployment run` reads them: JSON, or else text."""
    line = f"prefect deployment run retrain/monthly{options}"
    assert command("retrain", parameters, MONTHLY) == line


@pytest.mark.parametrize("first", ["/clone/.venv/bin/rolecall", "/clone/flows/cli.py"])
def test_a_command_is_the_one_that_was_typed(first: str, monkeypatch, tmp_path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [first, "normalize", "my titles.csv", "out"])
    assert command("normalize", {}, None) == "rolecall normalize 'my titles.csv' out"
    assert f"    {tmp_path}/logs/retrain.log\n" in page("x")


@pytest.fixture(scope="module")
def blocks(prefect_server: None) -> None:
    """Make two blocks that send messages, and one that does not."""
    from prefect.blocks.notifications import CustomWebhookNotificationBlock
    from prefect.blocks.system import Secret

    for name in ("team", "owner"):
        CustomWebhookNotificationBlock(name=name, url="http://127.0.0.1:1/").save(name)
    Secret(value="x").save("quiet")


@pytest.mark.slow
def test_it_is_made_once_and_then_changed(blocks: None) -> None:
    from prefect.client.orchestration import get_client

    said = " made: custom-webhook/team reports failed runs of retrain, "
    assert said in notify_by("custom-webhook/team")
    assert " changed: custom-webhook/owner reports" in notify_by("custom-webhook/owner")
    notify_by("custom-webhook/owner")
    with get_client(sync_client=True) as client:
        (automation,) = client.read_automations_by_name(AUTOMATION)
        owner = client.read_block_document_by_name("owner", "custom-webhook")
    (action,) = automation.actions
    assert action.block_document_id == owner.id  # type: ignore[union-attr]
    assert automation.trigger.match_related.root["prefect.resource.name"] == list(FLOWS)  # type: ignore
    assert automation.enabled


@pytest.mark.slow
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


@pytest.mark.slow
def test_a_server_has_to_be_named() -> None:
    from prefect.settings import PREFECT_API_URL, temporary_settings

    unnamed = temporary_settings(restore_defaults={PREFECT_API_URL})
    with unnamed, pytest.raises(Failure, match="no server is named: start `rolecall schedule`"):
        notify_by("custom-webhook/team")
