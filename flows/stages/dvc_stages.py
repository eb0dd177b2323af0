"""DVC's stages as Prefect task runs, of one `dvc repro`, in DVC's order (`dvc_plan.py`).

`dvc.yaml` stays the only list of stages. A new `dvc.lock` is written in the order of execution, so
the order is DVC's own; skipping, the run cache and the lock are DVC's as well. Its output is cut
where it turns to the next stage, and each part becomes a task run: Prefect adds the log, the name
and the state. One process for all, because each start of DVC takes two seconds. No retries and no
result caching: a stage is deterministic, and DVC is the cache.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from subprocess import CalledProcessError, Popen

from prefect import get_run_logger, task
from prefect.cache_policies import NO_CACHE

from flows.failure import failed, last_words
from flows.processes.streaming import follow, running, stream
from flows.stages.dvc_plan import Outcome

HINTS = (
    "To track the changes",
    "git add",
    "To enable auto staging",
    "dvc config",
    "Use `dvc push`",
)
OUTCOMES: dict[str, Outcome] = {
    "Running stage '{}':": "ran",
    "Stage '{}' is cached - skipping run, checking out outputs": "restored",
    "Stage '{}' didn't change, skipping": "unchanged",
    "'{}' didn't change, skipping": "unchanged",
}
"""DVC's first line about a stage, and what it does with it."""


@contextmanager
def repro(root: Path, stages: Sequence[str]) -> Iterator[Iterator[tuple[str, Iterator[str]]]]:
    """Bring stages up to date in this order, for the time of the block.

    Yields:
        each stage that DVC turns to, with its lines as they come; the next one's come after them.
        A failure ends the lines with `CalledProcessError`.
    """
    command = [sys.executable, "-m", "dvc", "--wait-for-lock", "repro", "--single-item", *stages]
    with running(command, root) as process:
        yield by_stage(_output(process), stages)


def _output(process: Popen[str]) -> Iterator[str]:
    assert process.stdout is not None
    yield from process.stdout
    if process.wait():
        raise CalledProcessError(process.returncode, process.args)


def by_stage(output: Iterable[str], stages: Sequence[str]) -> Iterator[tuple[str, Iterator[str]]]:
    """Cut the output of `dvc repro` at the first line of each stage.

    What DVC says before is the first one's.
    """
    starts = {line.format(stage): stage for stage in stages for line in OUTCOMES}
    current = stages[0]

    def stage_of(line: str) -> str:
        nonlocal current
        current = starts.get(line.rstrip(), current)
        return current

    return groupby(output, stage_of)


@task(name="stage", task_run_name="{stage}", cache_policy=NO_CACHE, persist_result=False)
def run_stage(stage: str, output: Iterable[str]) -> Outcome:
    """Log a stage's lines as they come, and tell what DVC did with it.

    Raises:
        StageFailed: when DVC or the stage's command ended with an error.
    """
    lines: list[str] = []
    try:
        follow(output, _say(lines))
    except CalledProcessError as error:
        raise failed(f"stage {stage}", error.returncode, lines) from None
    return outcome(stage, lines)


def said(command: Sequence[str], root: Path, what: str) -> list[str]:
    """Run a command of the pipeline and return its lines, which are logged as they come.

    Args:
        command: the program and its arguments.
        root: where it runs.
        what: it does, for the message.

    Raises:
        StageFailed: with its last words.
    """
    lines: list[str] = []
    status, _ = stream(command, root, _say(lines))
    if status:
        raise failed(what, status, lines)
    return lines


def _say(lines: list[str]) -> Callable[[str], None]:
    """Log lines and collect them; from the last words on as errors, which the end repeats."""
    log = get_run_logger()

    def say(line: str) -> None:
        lines.append(line)
        if line and not line.strip().startswith(HINTS):
            level = logging.ERROR if last_words(lines) else logging.INFO
            log.log(level, "%s", line)

    return say


def outcome(stage: str, lines: Sequence[str]) -> Outcome:
    """Tell what DVC says that it did, judged by its first line about the stage.

    A stage's own output may hold the same words, but it comes after ``Running stage``.
    """
    did = {line.format(stage): did for line, did in OUTCOMES.items()}
    return next((did[line] for line in lines if line in did), "ran")
