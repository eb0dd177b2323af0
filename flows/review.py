"""The flow `review`: queues the titles of bulk runs that a reviewer should see first.

One process does the work (`tasks/apps/review`); it writes its folder whole or not at all.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

from prefect import flow

from flows.failed_run import leave_page
from flows.results import publish
from flows.stages.target import run_module
from flows.workspaces.feedback_folder import feedback_folder
from flows.workspaces.workspace import existing_root_of

QUEUE, REVIEW = "queue.csv", "tasks.apps.review"


@flow(name="review", on_failure=[leave_page], on_crashed=[leave_page])
def review(
    answers: list[str], output: str, options: dict[str, Any] | None = None, profile: str = ""
) -> dict[str, str]:
    """Queue the titles of bulk runs whose review helps most.

    Args:
        answers: files or folders that the flow `normalize` wrote, the newest last.
        output: folder to be written.
        options: `budget`, `model` or `compare_with`, another model's answers.
        profile: a file of `profiles/`, whose registry and feedback are used; empty: the clone.
    """
    root = existing_root_of(profile)
    feedback = feedback_folder(root)
    chosen = {**(options or {}), "feedback": feedback}
    arguments = [f"--{name.replace('_', '-')}={value}" for name, value in chosen.items()]
    run_module("review", REVIEW, [*answers, output, *arguments], root)
    outcome = facts(Path(output)) | {"save to": feedback}
    if len(answers) > 1:
        outcome |= {"runs": f"{len(answers)}, the newest {answers[-1]}"}
    publish("review", outcome, f"The queue in {output}")
    return outcome


def facts(output: Path) -> dict[str, str]:
    """Describe the queue by its file."""
    with (output / QUEUE).open(encoding="utf-8-sig", newline="") as file:
        titles = [*csv.DictReader(file)]
    rows = sum(int(title["rows"]) for title in titles)
    abstained = sum(not title["predicted_occupation_id"] for title in titles)
    return {
        "queue": f"{len(titles):,} titles of {rows:,} rows, {abstained:,} without an answer",
        "page": str(output / "review.html"),
        "table": str(output / QUEUE),
    }
