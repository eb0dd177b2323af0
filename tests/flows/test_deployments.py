"""A watched folder under a real server and worker; runs that fail or die, and who is notified.

The owner's notification block is a webhook, whose port is the test's own.
"""

import json
import os
import shlex
import shutil
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from queue import Queue
from typing import Any

import pytest
import tiny_registry
from mlflow_import import WARNINGS
from prefect_beside import ENDED, Beside, server

pytestmark = [pytest.mark.slow, *WARNINGS]
ROOT = Path(__file__).parents[2]
SECONDS = 400  # for all of it; two minutes on two busy cores
RUN = ("prefect", "deployment", "run")
CHOSEN = {"model": "models:/rolecall/1", "profile": "sample", "quiet_seconds": 0}
TYPED = tuple(word for name, value in CHOSEN.items() for word in ("-p", f"{name}={value}"))
BLOCK = """
from prefect.blocks.notifications import CustomWebhookNotificationBlock
message = {{"subject": "{{{{subject}}}}", "body": "{{{{body}}}}"}}
CustomWebhookNotificationBlock(name="team", url="{url}", json_data=message).save("team")
"""
KILLED = """
import os
from prefect import flow
from flows.runs import leave_page
@flow(name="retrain", on_failure=[leave_page], on_crashed=[leave_page])
def killed(profile: str = "") -> None:
    os.kill(os.getpid(), 9)
"""


@pytest.fixture
def messages() -> Iterator[tuple[str, Queue[dict[str, str]]]]:
    """A port that takes messages, and what has come."""
    came: Queue[dict[str, str]] = Queue()

    class Taking(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            came.put(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Taking) as taking:
        threading.Thread(target=taking.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{taking.server_port}/", came
        taking.shutdown()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A clone as far as bulk runs need one: flows, parameters, and a registry with one version."""
    root = tiny_registry.registered(tmp_path / "clone", 1)
    shutil.copytree(ROOT / "flows", root / "flows", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "prefect.yaml", root)
    (root / "flows/killed.py").write_text(KILLED)
    (root / "inbox").mkdir()
    (root / "inbox/titles.csv").write_text("id,title\n1,nurse\n2,\n3,bread maker\n")
    (root / "inbox/bad.csv").write_text("which,of\nthese,two\n")
    os.mkfifo(root / "inbox/pipe.csv")
    (root / "inbox/passwd.csv").symlink_to("/etc/passwd")
    return root


def test_a_failure_is_reported_and_files_in_the_inbox_are_answered(
    root: Path, tmp_path: Path, messages: tuple[str, Queue[dict[str, str]]]
) -> None:
    url, came = messages
    environment = {"GIT_CEILING_DIRECTORIES": str(tmp_path)}
    with server(root, tmp_path, SECONDS, **environment) as beside:
        beside.prefect("deploy", "--all")
        beside.run(sys.executable, "-c", BLOCK.format(url=url))
        beside.run(sys.executable, "-m", "flows.cli", "notify", "custom-webhook/team")
        daily = beside.deployment("daily")
        with beside.worker():
            failed = ended(beside, daily, CHOSEN)
            assert failed["state_type"] == "FAILED", beside.logs()
            answers = root / "outbox/titles.csv.manifest.json"
            assert json.loads(answers.read_text())["rows"] == 3
            message = came.get(timeout=SECONDS)
            assert message["subject"] == "rolecall: normalize-folder Failed"
            assert "bad.csv: " in message["body"]
            assert "pipe.csv is a pipe" in message["body"]
            assert "passwd.csv is a link that leads out of" in message["body"]
            page = left(beside, "failed-normalize-folder", failed)
            assert "which column holds the titles?" in page
            assert page.endswith(f"\n    {shlex.join([*RUN, 'normalize-folder/daily', *TYPED])}")

            for name in ("bad.csv", "pipe.csv", "passwd.csv"):
                (root / "inbox" / name).unlink()
            stamp = answers.stat().st_mtime_ns
            done = ended(beside, daily, CHOSEN)
            assert done["state_type"] == "COMPLETED", beside.logs()
            assert answers.stat().st_mtime_ns == stamp
            outputs = sorted(path.name for path in (root / "outbox").iterdir())
            assert outputs == ["titles.csv", "titles.csv.manifest.json"]

            beside.prefect("deploy", "flows/killed.py:killed", "-n", "killed", "-p", "rolecall")
            killed = ended(beside, beside.deployment("killed"), {})
            assert killed["state_type"] == "CRASHED", beside.logs()
            message = came.get(timeout=SECONDS)
            assert message["subject"] == "rolecall: retrain Crashed"
            page = beside.until(lambda: left(beside, "failed-retrain", killed))
            assert page.startswith("# retrain: crashed\n")
            assert page.endswith(f"\n    {shlex.join([*RUN, 'retrain/killed'])}")
        assert came.empty()


def ended(
    beside: Beside, deployment: dict[str, Any], parameters: dict[str, object]
) -> dict[str, Any]:
    """Run a deployment and return its run when it has come to an end."""
    place = f"/deployments/{deployment['id']}/create_flow_run"
    begun = beside.post(place, {"parameters": parameters})["id"]

    def own() -> list[dict[str, Any]]:
        return [run for run in beside.runs(deployment, ENDED) if run["id"] == begun]

    run: dict[str, Any] = beside.until(own)[0]
    return run


def left(beside: Beside, key: str, run: dict[str, Any]) -> str:
    """Return the page that a run has left, if it has."""
    pages = beside.post("/artifacts/filter", {"artifacts": {"key": {"any_": [key]}}})
    return next((str(one["data"]) for one in pages if one["flow_run_id"] == run["id"]), "")
