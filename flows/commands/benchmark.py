"""`rolecall benchmark`: a model on a published benchmark, beside lexical baselines."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from flows.commands.ending import ending
from flows.commands.place import clone
from flows.failure import PYTHONS, STAGES, failed
from flows.processes.streaming import stream

BENCHMARK = "tasks.benchmark"


def benchmark(folder: Path, model: str, depth: int, out: Path | None, *, concepts: bool) -> None:
    """Measure in the clone; files are named as seen from the current directory."""
    with ending():
        root = clone()
        address = str(Path(model).absolute()) if Path(model).exists() else model
        words = [str(folder.absolute()), f"--model={address}", f"--depth={depth}"]
        words += [] if concepts else ["--no-concepts"]
        words += [f"--out={out.absolute()}"] if out else []
        status, lines = stream([sys.executable, "-m", BENCHMARK, *words], root, _until_error())
        if status:
            raise failed("benchmark", status, lines)


def _until_error() -> Callable[[str], None]:
    """Print lines as they come; of an error the message stands at the end alone."""
    said: list[str] = []

    def say(line: str) -> None:
        said.append(line)
        if not any(before.startswith((STAGES, PYTHONS)) for before in said):
            print(line, flush=True)

    return say
