"""Figures as tidy CSV: one file a study, one row a figure, and who measured it in `runs.csv`.

A row of `results/STUDY.csv` has the columns `COLUMNS`; `run` names a row of `results/runs.csv`,
which holds machine, command and the hashes of code and data once for all rows that they gave.
Nothing is typed by hand, and no figure stands in two files.
"""

from __future__ import annotations

import csv
import io
import math
import os
import platform
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from models.repeatable.whole_file import write_bytes

COLUMNS = ("dataset", "system", "test", "metric", "value", "low", "high", "n", "seed", "run")
KEY = ("dataset", "test", "system", "metric", "seed")
RUN_COLUMNS = ("run", "study", "machine", "command", "code", "data")
FOLDER = Path("results")
RUNS = "runs"
OTHERS = (RUNS, "product")
"""Files that are of no study; `benchmarks/product` writes the second."""
BEST_STEP = "best_step"
"""Metric of a network that was trained: the step of its best look at the validation data."""
LAST_STEP = "last_step"
"""... at which its training ended."""

Line = dict[str, str]
"""One row of a file, as text."""
Lines = Sequence[Line]
Results = Mapping[str, list[Line]]
"""Study to its rows; a study that has not been measured has none."""


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
    """Of training; None for what was not trained, or is a mean over seeds."""


class Run(NamedTuple):
    """What gave rows: a machine, the command that measures them again, and what it is made of."""

    machine: str
    command: str
    code: str = ""
    """Hash of the code that computed them (`pages/made_by.py`)."""
    data: str = ""
    """Hash of the data that it read."""


class ResultsError(ValueError):
    """Rows that do not belong in a results file; the message says what is wrong with them."""


def replace_rows(
    study: str,
    dataset: str,
    rows: Iterable[Row],
    run: Run,
    folder: Path = FOLDER,
    *,
    by_system: bool = False,
) -> Path:
    """Put `rows` in the place of all earlier rows of their data set, and note their run.

    With `by_system`, in the place of what the same systems had. Refused (`ResultsError`) are a
    figure that is not finite or stands twice, and a path of this machine.
    """
    _refuse_paths(run)
    path, runs, rows = folder / f"{study}.csv", read_runs(folder), list(rows)
    systems = {row.system for row in rows}
    kept = [
        line
        for line in read_rows(path)
        if line["dataset"] != dataset or (by_system and line["system"] not in systems)
    ]
    name = _run_name(study, run, runs, {line["run"] for line in kept})
    ordered = _sorted(kept + [_tidied(dataset, row, name) for row in rows])
    used = {line["run"] for line in ordered}
    entries = [
        entry for entry in runs.values() if entry["study"] != study or entry["run"] in used - {name}
    ]
    entries.append({"run": name, "study": study, **run._asdict()})
    entries.sort(key=lambda entry: (entry["study"], int(entry["run"].rpartition("-")[2])))
    write_bytes(_csv(entries, RUN_COLUMNS), folder / f"{RUNS}.csv")
    write_bytes(_csv(ordered, COLUMNS), path)
    return path


def read_runs(folder: Path = FOLDER) -> dict[str, Line]:
    """Return the rows of `runs.csv` by their name."""
    return {line["run"]: line for line in read_rows(folder / f"{RUNS}.csv", RUN_COLUMNS)}


def read_results(folder: Path = FOLDER) -> Results:
    """Return all rows that there are, study by study."""
    files = sorted(path for path in folder.glob("*.csv") if path.stem not in OTHERS)
    return defaultdict(list, {path.stem: read_rows(path) for path in files})


def rounded(value: float) -> str:
    """Write four significant digits, at most four decimals, no exponent: 0.5372, 12.35, 12346."""
    if float(value).is_integer():
        return str(int(value))
    digits = math.floor(math.log10(abs(value))) + 1
    return f"{value:.{min(4, max(0, 4 - digits))}f}"


def _run_name(study: str, run: Run, runs: Mapping[str, Line], kept: set[str]) -> str:
    """Return the name of the very same run, or the first that no kept row has: `zoo-2`."""
    for name, entry in runs.items():
        if entry == {"run": name, "study": study, **run._asdict()}:
            return name
    return next(name for k in range(1, len(kept) + 2) if (name := f"{study}-{k}") not in kept)


def _refuse_paths(run: Run) -> None:
    for path in (os.environ.get("ROLECALL_DATA", ""), str(Path.cwd()), str(Path.home())):
        if len(path) > 2 and path in "".join(run):  # "." and "/" are in any text
            raise ResultsError(f"{run} holds the path {path}: leave it out")


def _tidied(dataset: str, row: Row, run: str) -> Line:
    line = {name: "" if value is None else str(value) for name, value in row._asdict().items()}
    for name in ("value", "low", "high"):
        number = getattr(row, name)
        if number is not None:
            if not math.isfinite(number):
                raise ResultsError(f"{name} = {number} of {row}: leave the row out")
            line[name] = rounded(number)
    return line | {"dataset": dataset, "run": run}


def _sorted(lines: Lines) -> list[Line]:
    by_place: dict[tuple[str, ...], Line] = {}
    for line in lines:
        place = tuple(line[name] for name in KEY)
        if place in by_place:
            raise ResultsError(f"two figures for {place}")
        by_place[place] = line
    return [by_place[place] for place in sorted(by_place)]


def read_rows(path: Path, columns: tuple[str, ...] = COLUMNS) -> list[Line]:
    """Return the rows of one file; none if there is no such file."""
    if not path.is_file():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        if tuple(reader.fieldnames or ()) != columns:
            raise ResultsError(f"{path}: columns {reader.fieldnames}, expected {list(columns)}")
        return list(reader)


def _csv(lines: Lines, columns: tuple[str, ...]) -> bytes:
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(lines)
    return text.getvalue().encode()


def machine(device: str = "cpu") -> str:
    """Name processor or GPU, cores this process may use, memory: `AMD EPYC, 2 cores, 24 GiB`."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    if device == "cuda":
        import torch  # slow to import, and most figures are a processor's

        card = torch.cuda.get_device_properties(0)
        name = f"{card.name} {card.total_memory / 2**30:.0f} GiB"
    else:
        name = processor()
    return f"{name}, {cores} cores, {memory:.0f} GiB"


def processor(cpuinfo: Path = Path("/proc/cpuinfo")) -> str:
    """Return the model name that the kernel gives, else what Python knows."""
    lines = cpuinfo.read_text(encoding="utf-8").splitlines() if cpuinfo.is_file() else []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor() or platform.machine())
