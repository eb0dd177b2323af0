"""Runs DVC's stages from one `dvc repro`, in DVC's order (`dvc_plan.py`), and pushes their data.

One process runs all stages, because each start of DVC takes two seconds. DVC is the cache of
stages; nothing else caches or retries. One case is retried here: DVC refuses a stage whose files
another run uses, and its option `--wait-for-lock` concerns another lock.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import chain, groupby
from pathlib import Path
from subprocess import CalledProcessError

from flows.dvc_plan import Outcome, keep_out_special_files
from flows.errors import command_failed
from flows.processes import Show, follow, guarded, show_line, stream

OUTCOMES: dict[str, Outcome] = {  # DVC's first line about a stage -> the outcome
    "Running stage '{}':": "ran",
    "Stage '{}' is cached - skipping run, checking out outputs": "restored",
    "Stage '{}' didn't change, skipping": "unchanged",
    "'{}' didn't change, skipping": "unchanged",
}
DVC = (sys.executable, "-m", "dvc", "--wait-for-lock")
BUSY = "is busy, it is being blocked by:"  # DVC's last message if another run uses a file
WAIT = 10.0  # seconds until DVC is started again
PUSH_AGAIN = (2.0, 10.0)  # seconds until a push is tried again
HINTS = (  # the beginnings of DVC's advice that does not apply here
    "To track the changes",
    "git add",
    "To enable auto staging",
    "dvc config",
    "Use `dvc push`",
)


@contextmanager
def repro(root: Path, stages: Sequence[str]) -> Iterator[Iterator[tuple[str, Iterator[str]]]]:
    """Bring stages up to date in this order, for the time of the block.

    Yields each stage with its lines as they come; read them before the next stage. A failure ends
    the lines with `CalledProcessError`.
    """
    warnings = keep_out_special_files(root)
    with closing(_output(root, stages)) as output:
        yield by_stage(chain(warnings, output), stages)


def _output(root: Path, stages: Sequence[str]) -> Generator[str]:
    """Yield DVC's lines; if another run uses a stage's files, wait and continue at that stage."""
    command = [*DVC, "repro", "--single-item"]
    first_lines = _first_lines(stages)
    while True:
        busy = False
        with guarded([*command, *stages], root) as process:
            assert process.stdout is not None
            for line in process.stdout:
                if line.rstrip() in first_lines:
                    stages = stages[stages.index(first_lines[line.rstrip()]) :]
                busy = busy or (line.startswith("ERROR: ") and BUSY in line)
                if not busy:
                    yield line
            status = process.wait()
        if not status:
            return
        if not busy:
            raise CalledProcessError(status, command)
        yield f"waiting: another run uses files of {root}\n"
        time.sleep(WAIT)


def _first_lines(stages: Sequence[str]) -> dict[str, str]:
    """Map DVC's first lines about stages to the stages."""
    return {line.format(stage): stage for stage in stages for line in OUTCOMES}


def by_stage(output: Iterable[str], stages: Sequence[str]) -> Iterator[tuple[str, Iterator[str]]]:
    """Cut the output of `dvc repro` at the first line of each stage but the first."""
    first_lines, current = _first_lines(stages), stages[0]

    def stage_of(line: str) -> str:
        nonlocal current
        current = first_lines.get(line.rstrip(), current)
        return current

    return groupby(output, stage_of)


def run_stage(stage: str, output: Iterable[str], show: Show) -> Outcome:
    """Show a stage's lines as they come, and return what DVC did; StageFailed if it failed."""
    lines: list[str] = []

    def show_own(line: str) -> None:
        lines.append(line)
        if line and not line.strip().startswith(HINTS):
            show(line)

    try:
        follow(output, show_own)
    except CalledProcessError as error:
        raise command_failed(f"stage {stage}", error.returncode, lines) from None
    return outcome(stage, lines)


def outcome(stage: str, lines: Sequence[str]) -> Outcome:
    """Return what DVC did, by its first line about the stage: the stage's own lines come later."""
    outcomes = {line.format(stage): result for line, result in OUTCOMES.items()}
    return next((outcomes[line] for line in lines if line in outcomes), "ran")


def push(root: Path, target: str) -> bool:
    """Copy the files of `target` to DVC's default remote; the third failure is a warning."""
    for seconds in (*PUSH_AGAIN, 0.0):
        status, _ = stream([*DVC, "push", "--with-deps", target], root, show_line)
        if not status:
            return True
        time.sleep(seconds)
    show_line(
        "warning: the data were not pushed: see `dvc remote list` and the lines above; `dvc push` "
        "repeats it. Everything else of this run is done."
    )
    return False
