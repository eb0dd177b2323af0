"""The table of a study's trials: what each was tried with, and whether its grid ends there."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from benchmarks.pages.tables import distinct, figure, markdown, where
from benchmarks.pages.unlearned import MARK, UNLEARNED
from benchmarks.results import BEST_STEP, Line, Lines

PREFIX = "trial:"
HEAD = ("dataset", "system", "tried with", "score", "n", "taken")


def trials(rows: Lines) -> Iterator[str]:
    """Yield the table of all trials: what each was tried with, its score, which were taken."""
    tried: defaultdict[tuple[str, str], list[Line]] = defaultdict(list)
    for row in rows:
        if row["test"].startswith(PREFIX):
            tried[row["dataset"], row["system"]].append(row)
    if tried:
        yield "### Trials"
        lines = [line for key in sorted(tried) for line in sorted(_lines(tried[key]))]
        yield markdown(HEAD, lines)


def ends(tried: list[str], taken: str) -> list[str]:
    """Return the axes at an end of which a trial lies: its value is the least or most of three.

    Args:
        tried: names of a system's trials: ``learning_rate=0.001,negatives=max``.
        taken: one of them.
    """
    found = []
    for axis, value in _values(taken).items():
        several = {_values(name)[axis] for name in tried}
        numbers = sorted(map(float, several)) if all(map(_is_number, several)) else []
        if len(numbers) > 2 and float(value) in (numbers[0], numbers[-1]):
            found.append(axis)
    return found


def _lines(own: list[Line]) -> Iterator[list[str]]:
    """Yield a line a trial of one system."""
    names = [name.removeprefix(PREFIX) for name in distinct(own, "test")]
    for name in names:
        rows = where(own, test=PREFIX + name)
        found = {row["metric"]: row["value"] for row in rows}
        mark = UNLEARNED if found.get(BEST_STEP) == "0" else ""
        taken = ""
        if found.get("chosen") == "1":
            taken = "; ".join(["yes", *(f"{axis} at an end" for axis in ends(names, name))])
        for row in rows:
            if row["metric"] not in ("chosen", BEST_STEP):
                score = figure({**row, MARK: mark})
                yield [row["dataset"], row["system"], name, score, row["n"], taken]


def _values(name: str) -> dict[str, str]:
    return dict(part.split("=", 1) for part in name.split(","))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
