"""Speeds, measured in turn, and peak memory of processes that do nothing else.

Works that are compared are run in turn within each repeat, so that a busy moment of the machine
meets all of them. A figure is the median of the repeats, its ends the lowest and the highest.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

from benchmarks.results import Row


class Work(NamedTuple):
    """What a call of `run` does: it returns the amount, which is divided by the seconds."""

    system: str
    test: str
    metric: str
    run: Callable[[], float]


def alternate(works: Sequence[Work], repeats: int) -> list[Row]:
    """Run all `works` in turn, once to warm up and then `repeats` times; `n` is the repeats."""
    speeds: list[list[float]] = [[] for _ in works]
    for repeat in range(repeats + 1):
        for work, own in zip(works, speeds, strict=True):
            began = time.perf_counter()
            amount = work.run()
            speed = amount / (time.perf_counter() - began)
            if repeat:
                own.append(speed)
                print(f"{work.test}, {work.system}: {speed:,.1f} {work.metric}", flush=True)
    return [spread(*work[:3], own) for work, own in zip(works, speeds, strict=True)]


def spread(system: str, test: str, metric: str, values: Sequence[float]) -> Row:
    """Return the row of several repeats."""
    ends = float(median(values)), len(values), min(values), max(values)
    return Row(system, test, metric, *ends)


def fresh(module: str, *words: str) -> dict[str, float]:
    """Return the line of JSON that a module prints in a process of its own."""
    command = [sys.executable, "-m", module, *words]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    print(f"{module} {' '.join(words[-2:])}: {done.stdout.strip()}", flush=True)
    return json.loads(done.stdout)  # type: ignore[no-any-return]


def peak_mib() -> float:
    """Return the largest resident size that this process has had.

    Linux hands ru_maxrss of the parent down through exec, so its own high-water mark is read there.
    """
    status = Path("/proc/self/status")
    if status.is_file():
        lines = status.read_text(encoding="utf-8").splitlines()
        marks = [line.split()[1] for line in lines if line.startswith("VmHWM")]
        if marks:
            return int(marks[0]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
