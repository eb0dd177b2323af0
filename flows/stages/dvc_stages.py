"""DVC's stages as Prefect task runs, each one `dvc repro`, in DVC's order (`dvc_plan.py`).

`dvc.yaml` stays the only list of stages. A new `dvc.lock` is written in the order of execution, so
the order is DVC's own; each stage is `dvc repro --single-item STAGE` in its own process, so
skipping, the run cache and the lock are DVC's as well. Stages at the front that DVC would skip are
not started: that takes a second each. Prefect adds the log, the name and the state of the others.
No retries and no result caching: a stage is deterministic, and DVC is the cache.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Sequence
from pathlib import Path

from prefect import get_run_logger, task
from prefect.cache_policies import NO_CACHE

from flows.failure import failed, last_words
from flows.processes.streaming import stream
from flows.stages.dvc_plan import Outcome

HINTS = (
    "To track the changes",
    "git add",
    "To enable auto staging",
    "dvc config",
    "Use `dvc push`",
)


@task(name="stage", task_run_name="{stage}", cache_policy=NO_CACHE, persist_result=False)
def run_stage(root: Path, stage: str) -> Outcome:
    """Bring one stage up to date, its lines in the run's log.

    Raises:
        StageFailed: when DVC or the stage's command ended with an error.
    """
    return outcome(stage, said(repro_command(stage), root, f"stage {stage}"))


def said(command: Sequence[str], root: Path, what: str) -> list[str]:
    """Run a command of the pipeline and return its lines, which are logged as they come.

    From its last words on they are logged as errors, which the end of the run repeats.

    Args:
        command: the program and its arguments.
        root: where it runs.
        what: it does, for the message.

    Raises:
        StageFailed: with its last words.
    """
    log = get_run_logger()
    lines: list[str] = []

    def say(line: str) -> None:
        lines.append(line)
        if line and not line.strip().startswith(HINTS):
            level = logging.ERROR if last_words(lines) else logging.INFO
            log.log(level, "%s", line)

    status, _ = stream(command, root, say)
    if status:
        raise failed(what, status, lines)
    return lines


def repro_command(stage: str) -> list[str]:
    """Return the command of one stage; it waits while another DVC command holds the lock."""
    return [sys.executable, "-m", "dvc", "--wait-for-lock", "repro", "--single-item", stage]


def outcome(stage: str, lines: list[str]) -> Outcome:
    """Tell what DVC says that it did, judged by its first line about the stage.

    A stage's own output may hold the same words, but it comes after ``Running stage``.
    """
    said: dict[str, Outcome] = {
        f"Running stage '{stage}':": "ran",
        f"Stage '{stage}' is cached - skipping run, checking out outputs": "restored",
        f"Stage '{stage}' didn't change, skipping": "unchanged",
        f"'{stage}' didn't change, skipping": "unchanged",
    }
    return next((said[line] for line in lines if line in said), "ran")
