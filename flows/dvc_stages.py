"""DVC's stages as Prefect task runs: the order of `flows/dvc_plan.py`, each stage one `dvc repro`.

`dvc.yaml` stays the only list of stages. A new `dvc.lock` is written in the order of execution, so
the order is DVC's own; each stage is `dvc repro --single-item STAGE` in its own process, so
skipping, the run cache and the lock are DVC's as well. Stages at the front that DVC would skip are
not started: that takes a second each. Prefect adds the log, the name and the state of the others.
No retries and no result caching: a stage is deterministic, and DVC is the cache.
"""

from __future__ import annotations

import sys
from logging import Logger
from pathlib import Path

from prefect import get_run_logger, task
from prefect.cache_policies import NO_CACHE
from prefect.logging.loggers import LoggingAdapter

from flows.dvc_plan import Outcome
from flows.streaming import stream

HINTS = (
    "To track the changes",
    "git add",
    "To enable auto staging",
    "dvc config",
    "Use `dvc push`",
)
LINES_SHOWN = 15  # of a failed stage, in the error


class StageFailed(RuntimeError):
    """A stage ended with an error; the message names it and holds its last lines."""


@task(name="stage", task_run_name="{stage}", cache_policy=NO_CACHE, persist_result=False)
def run_stage(root: Path, stage: str) -> Outcome:
    """Bring one stage up to date, its lines in the run's log.

    Raises:
        StageFailed: when DVC or the stage's command ended with an error.
    """
    log = get_run_logger()
    status, lines = stream(repro_command(stage), root, lambda line: _say(log, line))
    if status:
        last = "\n".join(f"  {line}" for line in lines[-LINES_SHOWN:])
        raise StageFailed(
            f"stage {stage} failed with exit status {status}; its last lines:\n{last}"
        )
    return outcome(stage, lines)


def _say(log: Logger | LoggingAdapter, line: str) -> None:
    """Log a line, unless it is empty or one of DVC's hints about git and pushing."""
    if line and not line.strip().startswith(HINTS):
        log.info("%s", line)


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
