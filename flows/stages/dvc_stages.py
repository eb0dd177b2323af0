"""DVC's stages as Prefect task runs, of one `dvc repro`, in DVC's order (`dvc_plan.py`).

`dvc.yaml` stays the only list of stages. A new `dvc.lock` is written in the order of execution, so
the order is DVC's own; skipping, the run cache and the lock are DVC's as well. Its output is cut
where it turns to the next stage, and each part becomes a task run: Prefect adds the log, the name
and the state. One process for all, because each start of DVC takes two seconds. No result caching
and no retries, as a stage is deterministic and DVC is the cache, but of one reason: DVC refuses a
stage whose files another run of this tree holds, such as the hourly pick-up of feedback during a
retraining, and does not wait for it (its option `--wait-for-lock` is about another lock).
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import groupby
from pathlib import Path
from subprocess import CalledProcessError

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
BUSY = "is busy, it is being blocked by:"
"""What DVC says of a file that another run holds, before it ends."""
WAIT = 10.0
"""Seconds until it is asked again."""


@contextmanager
def repro(root: Path, stages: Sequence[str]) -> Iterator[Iterator[tuple[str, Iterator[str]]]]:
    """Bring stages up to date in this order, for the time of the block.

    Yields:
        each stage that DVC turns to, with its lines as they come; the next one's come after them.
        A failure ends the lines with `CalledProcessError`.
    """
    with closing(_output(root, stages)) as output:
        yield by_stage(output, stages)


def _output(root: Path, stages: Sequence[str]) -> Generator[str]:
    """Yield what DVC says; where another run holds a stage's files, go on there when it may."""
    command, starts = [sys.executable, "-m", "dvc", "--wait-for-lock", "repro"], starting(stages)
    while True:
        busy = False
        with running([*command, "--single-item", *stages], root) as process:
            assert process.stdout is not None
            for line in process.stdout:
                if line.rstrip() in starts:
                    stages = stages[stages.index(starts[line.rstrip()]) :]
                busy = busy or (line.startswith("ERROR: ") and BUSY in line)
                if not busy:
                    yield line
            status = process.wait()
        if not status:
            return
        if not busy:
            raise CalledProcessError(status, command)
        yield f"another run of {root} holds it: waiting\n"
        time.sleep(WAIT)


def starting(stages: Sequence[str]) -> dict[str, str]:
    """Return DVC's first lines of stages, each with its stage."""
    return {line.format(stage): stage for stage in stages for line in OUTCOMES}


def by_stage(output: Iterable[str], stages: Sequence[str]) -> Iterator[tuple[str, Iterator[str]]]:
    """Cut the output of `dvc repro` at the first line of each stage.

    What DVC says before is the first one's.
    """
    starts, current = starting(stages), stages[0]

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
