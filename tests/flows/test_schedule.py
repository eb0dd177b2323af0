"""The deployments of prefect.yaml on a real server, and `rolecall schedule`."""

import itertools
import shutil
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml
from background import ROLECALL, ROOT, free_port, rolecall, running_in, until
from prefect.flows import load_flow_from_entrypoint
from prefect_beside import ENDED, Beside, server

from flows.environment import kept_password
from flows.errors import Failure
from flows.profiles import DEFAULT
from flows.retrain import read_schedules
from flows.runs import FLOWS
from flows.schedule import scheduling

SECONDS = 110  # for the whole of the slow test
DEPLOYED: list[dict[str, Any]] = yaml.safe_load((ROOT / "prefect.yaml").read_text())["deployments"]


def test_the_schedule_is_monthly_and_names_no_folder_of_a_machine() -> None:
    (schedule,) = read_schedules(ROOT)
    assert (schedule.cron, schedule.timezone) == ("0 3 1 * *", "UTC")
    text = (ROOT / "prefect.yaml").read_text(encoding="utf-8")
    assert "pull:" not in text and str(ROOT) not in text


@pytest.mark.thorough
@pytest.mark.parametrize("stated", DEPLOYED, ids=lambda stated: stated["name"])
def test_a_deployment_is_a_flow_on_the_data_of_a_profile(stated, monkeypatch) -> None:
    """Its parameters are the flow's, it leaves a page when it fails, and the owner is notified."""
    monkeypatch.chdir(ROOT)
    flow = load_flow_from_entrypoint(stated["entrypoint"], use_placeholder_flow=False)
    assert stated["parameters"].keys() <= flow.parameters.properties.keys()
    assert stated["parameters"]["profile"] == DEFAULT
    assert flow.on_failure_hooks and flow.on_crashed_hooks
    assert flow.name in FLOWS
    assert stated["work_pool"]["name"] == "rolecall"
    assert stated["concurrency_limit"] == {"limit": 1, "collision_strategy": "ENQUEUE"}
    (schedule,) = read_schedules(ROOT, stated["name"])
    assert schedule.timezone == "UTC"


@pytest.mark.slow
def test_a_deployed_schedule_fires(toy: Path, tmp_path: Path) -> None:
    """Run `prefect deploy` of prefect.yaml as it stands, then a profile's schedule that is due."""
    source = tmp_path / "sources" / "below" / "source titles.csv"
    source.parent.mkdir(parents=True)
    source.write_text("title\ncooper\n")
    shutil.copytree(ROOT / "flows", toy / "flows", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "prefect.yaml", toy)
    with server(toy, tmp_path, SECONDS, ROLECALL_DATA=str(source.parents[1])) as beside:
        beside.prefect("deploy", "--all")
        deployment = beside.deployment("monthly")
        assert deployment["global_concurrency_limit"]["limit"] == 1

        monthly = beside.until(lambda: start_times(beside, deployment))
        assert len(monthly) >= 3
        assert all(t.strftime("%d %H:%M:%S") == "01 03:00:00" for t in monthly)
        assert all(b - a <= timedelta(days=31) for a, b in itertools.pairwise(monthly))
        assert datetime.now(UTC) < monthly[0] <= datetime.now(UTC) + timedelta(days=31)

        with beside.worker():
            due = datetime.now(UTC) + timedelta(seconds=6)
            soon = {"interval": 7 * 86400, "anchor_date": due.isoformat(), "timezone": "UTC"}
            schedules = [{"active": True, "schedule": soon, "parameters": {"profile": "other"}}]
            beside.post(f"/deployments/{deployment['id']}/schedules", schedules)
            (done,) = beside.until(lambda: beside.runs(deployment, ENDED))

        assert done["state_type"] == "COMPLETED", beside.logs()
        assert done["auto_scheduled"]
        assert datetime.fromisoformat(done["start_time"]) >= due
        assert (toy / ".workspaces" / "other" / "data" / "report" / "report.html").exists()
        assert not (toy / "data" / "report").exists()


def start_times(beside: Beside, deployment: dict[str, Any]) -> list[datetime]:
    """Return the expected start times of a deployment's scheduled runs, in order."""
    runs = beside.runs(deployment, ["SCHEDULED"])
    return sorted(datetime.fromisoformat(run["expected_start_time"]) for run in runs)


FOREIGN = {"Origin": "http://evil.example"}
ATTACK = {"name": "attack", "job_variables": {"command": "touch attacked"}}


Scheduled = tuple[Path, subprocess.Popen[str], httpx.Client, Path]


@pytest.fixture
def scheduled(toy: Path, own_server: dict[str, str]) -> Iterator[Scheduled]:
    """A clone in which the command runs, its process, a client of its server, and its output."""
    shutil.copytree(ROOT / "flows", toy / "flows", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "prefect.yaml", toy)
    port, output = free_port(), toy.parent / "output.txt"
    with output.open("w") as file, httpx.Client(trust_env=False) as client:
        client.base_url = f"http://127.0.0.1:{port}/api"
        command = [*ROLECALL, "schedule", f"--port={port}"]
        pipes: Any = {"stdout": file, "stderr": file, "text": True}
        process = subprocess.Popen(command, cwd=toy, env=own_server, **pipes)
        try:
            until(lambda: "Ctrl-C" in output.read_text() or process.poll() is not None)
            yield toy, process, client, output
        finally:
            process.kill()
            process.wait()
            until(lambda: not running_in(toy))


@pytest.mark.slow
def test_only_the_password_opens_the_server_and_all_ends_with_the_command(
    scheduled: Scheduled, own_server: dict[str, str]
) -> None:
    """A page of another origin made a deployment whose command the worker ran: it is refused."""
    root, process, client, output = scheduled
    printed = output.read_text()
    assert "\nretrain/monthly " in printed and " 03:00 UTC\n" in printed, printed
    password = root / ".prefect/password"
    secret = password.read_text().strip()
    assert str(password) in printed and secret not in printed
    assert stat.S_IMODE(password.stat().st_mode) == 0o600

    answer = client.post("/deployments/", json=ATTACK, headers=FOREIGN)
    assert answer.status_code == 401
    assert "access-control-allow-origin" not in answer.headers
    asked = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "x-any"}
    answer = client.options("/deployments/", headers=FOREIGN | asked)
    assert answer.status_code == 400
    assert "access-control-allow-origin" not in answer.headers
    text = {"Content-Type": "text/plain", "Host": "evil.example"} | FOREIGN
    assert client.post("/deployments/filter", content="{}", headers=text).status_code == 401
    user, _, word = secret.partition(":")
    answer = client.post("/deployments/filter", json={}, auth=(user, word))
    assert {one["name"] for one in answer.json()} == {"monthly", "daily", "hourly"}

    second = rolecall(root, "schedule", environment=own_server)
    assert second.returncode == 1
    assert f"`rolecall schedule` runs already, as process {process.pid}: " in second.stderr

    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 130
    assert running_in(root) == []
    assert kept_password(password) == secret
    assert not (root / "attacked").exists()


@pytest.mark.thorough
def test_a_taken_port_is_named_with_its_process(tmp_path: Path) -> None:
    """The listener is another process, of which this one may ask the name."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
        code = f"import socket, time; s = socket.socket(fileno={listener.fileno()}); s.listen()"
        waiting = [sys.executable, "-c", f"{code}; print('up', flush=True); time.sleep(60)"]
        pipes: Any = {"pass_fds": [listener.fileno()], "stdout": subprocess.PIPE}
        with subprocess.Popen(waiting, **pipes) as other:
            assert other.stdout and other.stdout.readline() == b"up\n"
            listener.close()
            expected = rf"127.0.0.1:{port} cannot be used: .* by process {other.pid} \(python"
            with pytest.raises(Failure, match=expected), scheduling(tmp_path, port):
                pass
            other.kill()
