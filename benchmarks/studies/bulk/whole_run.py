"""The process of `rolecall normalize`: its seconds, and the most memory of it and its workers."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import psutil

EVERY = 0.25
"""Seconds between two looks at the memory."""


class Took(NamedTuple):
    """Cost of a run; `memory` in MiB, its own pages."""

    seconds: float
    memory: float
    rows: int


def normalized(titles: Path, output: Path, model: Path, cache: Path, threads: int) -> Took:
    """Run it with the cached answers of a folder.

    Raises:
        subprocess.CalledProcessError: it failed; its output shows why.
    """
    words = [str(titles), str(output), f"--model={model}", f"--cache-dir={cache}"]
    words += ["--column=raw_title", f"--threads={threads}"]
    began, most = time.perf_counter(), 0.0
    with subprocess.Popen([sys.executable, "-m", "tasks.apps.bulk", *words]) as run:
        while run.poll() is None:
            most = max(most, _memory(run.pid))
            time.sleep(EVERY)
    seconds = time.perf_counter() - began
    if run.returncode:
        raise subprocess.CalledProcessError(run.returncode, "tasks.apps.bulk")
    return Took(seconds, most, json.loads((output / "manifest.json").read_text())["rows"])


def _memory(pid: int) -> float:
    total = 0
    try:
        whole = psutil.Process(pid)
        for one in (whole, *whole.children(recursive=True)):
            total += one.memory_full_info().pss
    except psutil.NoSuchProcess:  # it ended meanwhile
        return 0.0
    return total / 2**20
