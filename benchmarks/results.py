"""Figures as CSV: one file a study, one row a figure, and how they were measured in `runs.csv`.

A row of `results/STUDY.csv` has the columns `COLUMNS`. Its `run` names a row of `results/runs.csv`:
commit, date, machine and command of a measurement. A figure is a snapshot of that commit.
"""

from __future__ import annotations

import math
import os
import platform
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

import polars as pl

from models.reproducibility import write_bytes

COLUMNS = ("dataset", "system", "test", "metric", "value", "low", "high", "n", "seed", "run")
KEY = ("dataset", "test", "system", "metric", "seed")
RUN_COLUMNS = ("run", "study", "commit", "date", "machine", "command")
FOLDER = Path("results")
RUNS = "runs"
BEST_STEP = "best_step"  # metric of a trained network: the step of its best look at validation data

Line = dict[str, str]  # one row of a file, as text
Lines = Sequence[Line]


class Row(NamedTuple):
    """One figure of a data set; without an interval `low` and `high` are None."""

    system: str
    test: str
    metric: str
    value: float
    n: int
    low: float | None = None
    high: float | None = None
    seed: int | None = None
    """Of training; None for a system without training and for a mean over seeds."""


class Run(NamedTuple):
    """How rows were measured."""

    commit: str
    date: str
    machine: str
    command: str

    @classmethod
    def now(cls, command: str) -> Run:
        """Return a run of the commit that is checked out, today, on this machine."""
        git, here = ["git", "rev-parse", "--short", "HEAD"], Path(__file__).parent
        commit = subprocess.run(git, cwd=here, capture_output=True, text=True).stdout
        return cls(commit.strip(), datetime.now(UTC).date().isoformat(), machine(), command)


def replace_rows(
    study: str, dataset: str, rows: Iterable[Row], run: Run, folder: Path = FOLDER
) -> None:
    """Replace the rows that the systems of `rows` have on the data set, and note their run.

    Raises:
        ValueError: a figure is not finite or stands twice, or the run names a path of this
            machine. The files stay as they were.
    """
    for own in (os.environ.get("ROLECALL_DATA", ""), str(Path.cwd()), str(Path.home())):
        if len(own) > 2 and own in "".join(run):  # "." and "/" are in any text
            raise ValueError(f"{run} holds the path {own}: leave it out")
    path, runs, rows = folder / f"{study}.csv", read_runs(folder), list(rows)
    systems = {row.system for row in rows}
    before = read_rows(path)
    kept = [own for own in before if own["dataset"] != dataset or own["system"] not in systems]
    name = _run_name(study, run, runs)
    key = itemgetter(*KEY)
    ordered = sorted(kept + [_tidied(dataset, row, name) for row in rows], key=key)
    for one, other in pairwise(ordered):
        if key(one) == key(other):
            raise ValueError(f"two figures for {key(one)}")
    runs[name] = {"run": name, "study": study, **run._asdict()}
    used = {line["run"] for line in ordered}
    entries = [own for own in runs.values() if own["study"] != study or own["run"] in used]
    entries.sort(key=lambda own: (own["study"], _number(own["run"])))
    write_bytes(_csv(entries, RUN_COLUMNS), folder / f"{RUNS}.csv")
    write_bytes(_csv(ordered, COLUMNS), path)


def read_runs(folder: Path = FOLDER) -> dict[str, Line]:
    """Return the rows of `runs.csv` by their name."""
    return {line["run"]: line for line in read_rows(folder / f"{RUNS}.csv", RUN_COLUMNS)}


def read_rows(path: Path, columns: tuple[str, ...] = COLUMNS) -> list[Line]:
    """Return the rows of one file; none if there is no such file."""
    if not path.is_file():
        return []
    frame = pl.read_csv(path, infer_schema=False)
    if tuple(frame.columns) != columns:
        raise ValueError(f"{path}: columns {frame.columns}, expected {list(columns)}")
    return frame.fill_null("").to_dicts()


def rounded(value: float) -> str:
    """Write four significant digits, at most four decimals, no exponent: 0.5372, 12.35, 12346."""
    if float(value).is_integer():
        return str(int(value))
    digits = math.floor(math.log10(abs(value))) + 1
    return f"{value:.{min(4, max(0, 4 - digits))}f}"


def machine(cpuinfo: Path = Path("/proc/cpuinfo")) -> str:
    """Name processor, cores this process may use, memory: `AMD EPYC, 2 cores, 24 GiB`."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    lines = cpuinfo.read_text(encoding="utf-8").splitlines() if cpuinfo.is_file() else []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    processor = next(names, platform.processor() or platform.machine())
    return f"{processor}, {cores} cores, {memory:.0f} GiB"


def _run_name(study: str, run: Run, runs: Mapping[str, Line]) -> str:
    """Return the name of the very same run, or the next of its study: `zoo-2`."""
    own = {name: entry for name, entry in runs.items() if entry["study"] == study}
    same = [name for name, entry in own.items() if entry.items() >= run._asdict().items()]
    return same[0] if same else f"{study}-{1 + max(map(_number, own), default=0)}"


def _number(run: str) -> int:
    return int(run.rpartition("-")[2])


def _tidied(dataset: str, row: Row, run: str) -> Line:
    line = {name: "" if value is None else str(value) for name, value in row._asdict().items()}
    for name in ("value", "low", "high"):
        number = getattr(row, name)
        if number is not None:
            if not math.isfinite(number):
                raise ValueError(f"{name} = {number} of {row}: leave the row out")
            line[name] = rounded(number)
    return line | {"dataset": dataset, "run": run}


def _csv(lines: Lines, columns: tuple[str, ...]) -> bytes:
    frame = pl.DataFrame(lines, dict.fromkeys(columns, pl.String))
    return frame.with_columns(pl.all().replace("", None)).write_csv().encode()
