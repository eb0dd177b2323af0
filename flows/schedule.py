"""The schedule of `prefect.yaml`, served by one process instead of a server, pool and worker.

`prefect.yaml` is the one place that states when; runs do not overlap.
"""

from __future__ import annotations

from pathlib import Path

import yaml
from prefect.client.schemas.objects import ConcurrencyLimitConfig, ConcurrencyLimitStrategy
from prefect.schedules import Cron, Schedule

from flows.retrain import retrain

DEPLOYMENT = "weekly"


def stated_schedules(root: Path, deployment: str = DEPLOYMENT) -> list[Schedule]:
    """Read the cron schedules of one deployment of `prefect.yaml`."""
    text = (root / "prefect.yaml").read_text(encoding="utf-8")
    stated = {entry["name"]: entry for entry in yaml.safe_load(text)["deployments"]}
    return [
        Cron(entry["cron"], timezone=entry["timezone"]) for entry in stated[deployment]["schedules"]
    ]


def serve_weekly(root: Path, profile: str | None) -> None:
    """Wait for the schedule and retrain on the data of `profile`; returns when interrupted."""
    retrain.serve(
        name=DEPLOYMENT,
        schedules=stated_schedules(root),
        parameters={"profile": profile or ""},
        global_limit=ConcurrencyLimitConfig(
            limit=1, collision_strategy=ConcurrencyLimitStrategy.ENQUEUE
        ),
        limit=1,
    )
