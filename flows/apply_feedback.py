"""The flow `apply-feedback`: reads reviewers' files and applies them to the champion at once.

It runs DVC's stage `feedback`, which refuses bad rows with their reasons and versions the rest.
Then it registers the champion again with the reviewers' answers, without training; the next
`retrain` learns from them. A run that was killed can be repeated.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path
from typing import Any

import yaml
from prefect import flow, task
from prefect.cache_policies import NO_CACHE

from flows.failed_run import leave_page
from flows.processes.command import check_params, log_lines
from flows.registry import apply_patches
from flows.results import publish
from flows.stages.dvc_stages import repro, run_stage
from flows.stages.target import complete_report, push_target
from flows.workspaces.feedback_folder import README, feedback_folder, profile_of
from flows.workspaces.profiles import SAMPLE
from flows.workspaces.workspace import root_of
from tasks.release.registry.outcomes import Patched

STAGE = "feedback"
LABELS = "data/simulate_feedback/feedback.csv"  # verdicts of labels, no reviewer's


@flow(name="apply-feedback", on_failure=[leave_page], on_crashed=[leave_page])
def apply_feedback(profile: str = "") -> dict[str, str]:
    """Read the reviewers' files and correct the champion.

    Before the first training there is no model to correct, so the files wait.

    Args:
        profile: a file of `profiles/`, whose feedback folder and model are used; empty: those of
            the current directory.
    """
    root = root_of(profile)
    if not (root / LABELS).is_file():
        command = f"rolecall retrain --profile {profile_of(root) or SAMPLE}"
        return {"model": f"none yet in {root}: `{command}` also learns from the files"}
    check_params(root, log_lines())
    with repro(root, [STAGE]) as stages:
        outcomes = [run_stage(stage, lines) for stage, lines in stages]
    if outcomes != ["unchanged"]:
        push_target(root, STAGE)
    patched = patch(root)
    if any(patched):
        complete_report(root)
    counts = json.loads((root / "data/feedback/metrics.json").read_text(encoding="utf-8"))
    outcome = facts(counts, patched, root)
    publish("apply-feedback", outcome, "The feedback that was read, and the champion with it")
    return outcome


@task(name="patch", task_run_name="patch", cache_policy=NO_CACHE, persist_result=False)
def patch(root: Path) -> Patched:
    """Apply the feedback to the champion, and to a challenger that waits for it."""
    return apply_patches(root, log_lines())


def facts(counts: dict[str, Any], patched: Patched, root: Path) -> dict[str, str]:
    """Describe the run by the stage's counts and the gate's decisions.

    Only reviewers' files are counted, not the verdicts of labels.
    """
    read = {name: rows for name, rows in counts["rows_read"].items() if name != LABELS}
    refused = sum(sum(counts["rejected"].get(name, {}).values()) for name in read)
    folder = feedback_folder(root)
    rows = {
        "files": f"{len(read):,} in {folder}",
        "rows": f"{sum(read.values()):,} read, {refused:,} refused",
        "titles": (
            f"{counts['overrides']:,} overrides, {counts['not_job_titles']:,} not job titles, "
            f"{counts['rejected_answers']:,} answers not given again"
        ),
        "conflict": f"{counts['conflicts']:,}",
    }
    if others := unread(root, read):
        rows["skipped"] = f"{', '.join(others)}: of a kind that is not read"
    if patched.champion is None:
        known = "the champion has all of this feedback already"
        rows["model"] = known if read else f"unchanged: no file of feedback in {folder}"
    for key, done in zip(("model", "challenger"), patched, strict=True):
        if done:
            version, decision = done
            outcome = "champion" if decision.promoted else "not promoted"
            rows[key] = f"{version.name} version {version.version}"
            rows["gate" if key == "model" else "replies"] = f"{outcome}: {decision.reason}"
    return rows


def unread(root: Path, read: Collection[str]) -> list[str]:
    """Name the visible files of the feedback folder that the stage did not read."""
    params = yaml.safe_load((root / "params.yaml").read_text(encoding="utf-8"))
    names = {part for name in read for part in Path(name).parts} | {README}
    files = (root / params["feedback"]["folder"]).iterdir()
    return sorted(
        path.name
        for path in files
        if path.is_file() and path.name not in names and not path.name.startswith(".")
    )
