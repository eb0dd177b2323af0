"""The flow `review`: what of a bulk run is worth a person's minute, and a page in Prefect.

The work is one process, `tasks/review`, which leaves its folder whole or not at all.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path
from typing import Any

from prefect import flow, task
from prefect.artifacts import create_markdown_artifact
from prefect.cache_policies import NO_CACHE

from flows import results
from flows.failed_run import leave_page
from flows.stages.dvc_stages import said
from flows.workspaces.workspace import standing_root_of

QUEUE, PAGE, REVIEW = "queue.csv", "review.html", "tasks.review"


@flow(name="review", on_failure=[leave_page], on_crashed=[leave_page])
def review(
    answers: str, output: str, options: dict[str, Any] | None = None, profile: str = ""
) -> dict[str, str]:
    """Queue the titles of a bulk run that are worth most.

    Args:
        answers: folder that the flow `normalize` wrote.
        output: folder to be written.
        options: of `tasks/review/__main__.py` by name, such as `budget` or `model`.
        profile: a file of `profiles/`, whose registry and feedback are meant; empty: the current
            directory.

    Returns:
        what came of it, as facts.

    Raises:
        StageFailed: with the last words of what went wrong.
    """
    root = standing_root_of(profile)
    words = [f"--{name}={value}" for name, value in (options or {}).items()]
    queue(root, [answers, output, *words])
    told = facts(Path(output))
    create_markdown_artifact(
        key="review",
        markdown=results.as_markdown(list(told.items()), ("", "review")),
        description=f"What is in {output}",
    )
    return told


@task(name="queue", task_run_name="review", cache_policy=NO_CACHE, persist_result=False)
def queue(root: Path, words: list[str]) -> None:
    """Run the process in `root`."""
    said([sys.executable, "-m", REVIEW, *words], root, "review")


def facts(output: Path) -> dict[str, str]:
    """Say what was queued, from the file of the queue."""
    with (output / QUEUE).open(encoding="utf-8-sig", newline="") as file:
        titles = [*csv.DictReader(file)]
    rows = sum(int(title["rows"]) for title in titles)
    without = sum(not title["predicted_occupation_id"] for title in titles)
    return {
        "queue": f"{len(titles):,} titles of {rows:,} rows, {without:,} of them without an answer",
        "page": str(output / PAGE),
        "table": str(output / QUEUE),
    }
