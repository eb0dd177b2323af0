"""A real server, the deployments of prefect.yaml, and a schedule that fires."""

from __future__ import annotations

import itertools
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml
from prefect.flows import load_flow_from_entrypoint
from prefect_beside import ENDED, Beside, server

from flows.notification import FLOWS
from flows.retrain import read_schedules
from flows.workspaces.profiles import DEFAULT

ROOT = Path(__file__).parents[2]
SECONDS = 110  # for the whole of the slow test
DEPLOYED: list[dict[str, Any]] = yaml.safe_load((ROOT / "prefect.yaml").read_text())["deployments"]


def test_the_schedule_is_monthly() -> None:
    (schedule,) = read_schedules(ROOT)
    assert (schedule.cron, schedule.timezone) == ("0 3 1 * *", "UTC")


def test_prefect_yaml_names_no_folder_of_a_machine() -> None:
    text = (ROOT / "prefect.yaml").read_text(encoding="utf-8")
    assert "pull:" not in text
    assert str(ROOT) not in text


@pytest.mark.thorough
@pytest.mark.parametrize("stated", DEPLOYED, ids=lambda stated: stated["name"])
def test_a_deployment_is_a_flow_on_the_data_of_a_profile(
    stated: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
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

        monthly = beside.until(lambda: scheduled(beside, deployment))
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


def scheduled(beside: Beside, deployment: dict[str, Any]) -> list[datetime]:
    """Return the expected start times of a deployment's scheduled runs, in order."""
    runs = beside.runs(deployment, ["SCHEDULED"])
    return sorted(datetime.fromisoformat(run["expected_start_time"]) for run in runs)
