"""A real server, the deployment of prefect.yaml, and a schedule that fires."""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from background import free_port, running

from flows.quiet import QUIET
from flows.schedule import stated_schedules

ROOT = Path(__file__).parents[2]
PREFECT = (sys.executable, "-m", "prefect")
SECONDS = 110  # for the whole of the slow test
FAST = {
    "PREFECT_SERVER_SERVICES_SCHEDULER_LOOP_SECONDS": "1",
    "PREFECT_SERVER_SERVICES_SCHEDULER_DEPLOYMENT_LOOP_SECONDS": "1",
    "PREFECT_WORKER_QUERY_SECONDS": "1",
    "PREFECT_WORKER_PREFETCH_SECONDS": "1",
}


def test_the_schedule_is_weekly() -> None:
    (schedule,) = stated_schedules(ROOT)
    assert (schedule.cron, schedule.timezone) == ("0 3 * * 1", "UTC")


def test_prefect_yaml_names_no_folder_of_a_machine() -> None:
    text = (ROOT / "prefect.yaml").read_text(encoding="utf-8")
    assert "pull:" not in text
    assert str(ROOT) not in text


@pytest.mark.slow
def test_a_deployed_schedule_fires(toy: Path, tmp_path: Path) -> None:
    """Run `prefect deploy` of prefect.yaml as it stands, then a profile's schedule that is due."""
    outside = tmp_path / "outside" / "below" / "outside titles.csv"
    outside.parent.mkdir(parents=True)
    outside.write_text("title\ncooper\n")
    shutil.copytree(ROOT / "flows", toy / "flows", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "prefect.yaml", toy)
    deadline = time.monotonic() + SECONDS
    port = free_port()
    api = f"http://127.0.0.1:{port}/api"
    quiet = {k: v for k, v in os.environ.items() if not k.startswith("PREFECT_")} | QUIET | FAST
    environment = quiet | {"PREFECT_HOME": str(tmp_path / "prefect"), "PREFECT_API_URL": api}
    environment |= {"ROLECALL_DATA": str(outside.parents[1])}

    def prefect(*arguments: str) -> None:
        command = [*PREFECT, "--no-prompt", *arguments]
        done = subprocess.run(command, cwd=toy, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr

    with ExitStack() as stack:
        client = stack.enter_context(httpx.Client(base_url=api, timeout=20, trust_env=False))
        address = ["--host", "127.0.0.1", "--port", str(port)]
        server = [*PREFECT, "server", "start", *address, "--no-ui"]
        stack.enter_context(running(server, tmp_path, environment, tmp_path / "server.log"))
        until(deadline, lambda: healthy(client))
        prefect("work-pool", "create", "rolecall", "--type", "process")
        prefect("deploy", "--all")
        deployment = ask(client, "/deployments/filter", {})[0]
        assert deployment["global_concurrency_limit"]["limit"] == 1

        weekly = until(deadline, lambda: scheduled(client))
        assert len(weekly) >= 3
        assert all(t.strftime("%A %H:%M:%S") == "Monday 03:00:00" for t in weekly)
        assert {b - a for a, b in itertools.pairwise(weekly)} == {timedelta(days=7)}
        assert datetime.now(UTC) < weekly[0] <= datetime.now(UTC) + timedelta(days=7)

        worker = [*PREFECT, "worker", "start", "--pool", "rolecall", "--type", "process"]
        stack.enter_context(running(worker, tmp_path, environment, tmp_path / "worker.log"))
        due = datetime.now(UTC) + timedelta(seconds=6)
        soon = {"interval": 7 * 86400, "anchor_date": due.isoformat(), "timezone": "UTC"}
        schedules = [{"active": True, "schedule": soon, "parameters": {"profile": "other"}}]
        client.post(f"/deployments/{deployment['id']}/schedules", json=schedules).raise_for_status()
        done = until(deadline, lambda: ended(client), logs(tmp_path))

        assert done["state_type"] == "COMPLETED", logs(tmp_path)()
        assert done["auto_scheduled"]
        assert datetime.fromisoformat(done["start_time"]) >= due
        assert (toy / ".workspaces" / "other" / "data" / "report" / "report.html").exists()
        assert not (toy / "data" / "report").exists()
        prefect("deployment", "run", "retrain/weekly", "-p", "profile=other")


def logs(folder: Path) -> Callable[[], str]:
    """Return what server and worker have said, for a failure's message."""
    return lambda: "\n".join(f"{p}\n{p.read_text()[-6000:]}" for p in folder.glob("*.log"))


def until(deadline: float, look: Callable[[], Any], explain: Callable[[], str] = str) -> Any:
    """Wait for the first true answer of `look`, asked four times a second."""
    while not (answer := look()):
        assert time.monotonic() < deadline, f"not within {SECONDS} s\n{explain()}"
        time.sleep(0.25)
    return answer


def healthy(client: httpx.Client) -> bool:
    try:
        return client.get("/health").is_success
    except httpx.TransportError:
        return False


def ask(client: httpx.Client, path: str, body: dict[str, Any]) -> Any:
    return client.post(path, json=body).raise_for_status().json()


def scheduled(client: httpx.Client) -> list[datetime]:
    """Return the expected start times of the scheduled runs, in order."""
    runs = ask(
        client, "/flow_runs/filter", {"flow_runs": {"state": {"type": {"any_": ["SCHEDULED"]}}}}
    )
    return sorted(datetime.fromisoformat(run["expected_start_time"]) for run in runs)


def ended(client: httpx.Client) -> dict[str, Any] | None:
    """Return a run that has come to an end, whichever."""
    kinds = ["COMPLETED", "FAILED", "CRASHED", "CANCELLED"]
    runs = ask(client, "/flow_runs/filter", {"flow_runs": {"state": {"type": {"any_": kinds}}}})
    return runs[0] if runs else None
