"""Killing a command in the middle: start it in a session of its own, wait for a moment, SIGKILL."""

import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from background import running_in
from clones import Clone

SECONDS = 240  # a moment that has not come by then will not
Moment = Callable[[str], bool]  # of what the command has printed


def kill_at(moment: Moment, clone: Clone, *command: str, seconds: float = SECONDS) -> str:
    """Run `command`, kill its process group at `moment`, or fail; return what it had printed."""
    log = clone.root.parent / "killed.log"
    with log.open("w") as output:
        pipes: Any = {"stdin": subprocess.DEVNULL, "stdout": output, "stderr": subprocess.STDOUT}
        own: Any = {"cwd": clone.root, "env": clone.environment(), "start_new_session": True}
        process = subprocess.Popen(command, **pipes, **own)
    limit = time.monotonic() + seconds
    try:
        while process.poll() is None and time.monotonic() < limit:
            if moment(log.read_text(errors="replace")):
                break
            time.sleep(0.002)
    finally:
        if process.returncode is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    assert process.returncode == -signal.SIGKILL, log.read_text()
    assert time.monotonic() < limit, log.read_text()
    return log.read_text(errors="replace")


def survivors(clone: Clone, seconds: float = 10) -> list[str]:
    """List commands that still run in the clone `seconds` after a kill; return once none does."""
    limit = time.monotonic() + seconds
    while (running := running_in(clone.root)) and time.monotonic() < limit:
        time.sleep(0.1)
    return running


def appears(file: Path) -> Moment:
    """Name the moment when a file is there."""
    return lambda printed: file.exists()


def any_file_below(folder: Path) -> Moment:
    """Name the moment of the first file, a partial one as well."""
    return lambda printed: any(files_below(folder))


def files_below(folder: Path) -> Iterator[Path]:
    """Yield the files in a folder and below; folders that vanish meanwhile are left out."""
    for parent, _, names in os.walk(folder):
        yield from (Path(parent, name) for name in names)


def says(words: str) -> Moment:
    """Name the moment when the command has printed `words`."""
    return lambda printed: words in printed


def resumed_at(printed: str, stage: str = "") -> int:
    """Find the step from which training went on; some were taken between a moment and its kill."""
    prefix = f"{re.escape(stage)}: " if stage else ""
    resumed = re.search(prefix + r"resumed at step (\d+)", printed)
    assert resumed, printed
    return int(resumed[1])
