"""The schedule of `prefect.yaml`, served by one process instead of a server, pool and worker.

`prefect.yaml` is the one place that states when; runs do not overlap.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml
from prefect import Flow
from prefect.client.schemas.objects import ConcurrencyLimitConfig, ConcurrencyLimitStrategy
from prefect.schedules import Cron, Schedule

DEPLOYMENT = "weekly"


def stated_schedules(root: Path, deployment: str = DEPLOYMENT) -> list[Schedule]:
    """Read the cron schedules of one deployment of `prefect.yaml`."""
    text = (root / "prefect.yaml").read_text(encoding="utf-8")
    stated = {entry["name"]: entry for entry in yaml.safe_load(text)["deployments"]}
    return [
        Cron(entry["cron"], timezone=entry["timezone"]) for entry in stated[deployment]["schedules"]
    ]


def serve(flow: Flow[[], Any], root: Path) -> None:
    """Wait for the schedule and run `flow` in this directory; returns when interrupted."""
    flow.serve(
        name=DEPLOYMENT,
        schedules=stated_schedules(root),
        global_limit=ConcurrencyLimitConfig(
            limit=1, collision_strategy=ConcurrencyLimitStrategy.ENQUEUE
        ),
        limit=1,
    )
