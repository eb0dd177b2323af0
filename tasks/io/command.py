"""A stage's command: its options, its counts for the log, and exit status 1 for a bad input.

Errors that this project raises say what to do and need no traceback. Any other error is a fault in
the program, and keeps it.
"""

from __future__ import annotations

import argparse
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
OWN = (ROOT / "tasks", ROOT / "models")
REPORTED = (ValueError, FileNotFoundError, FloatingPointError, ModuleNotFoundError)


def run(main: Callable[[], None]) -> None:
    """Run `main`; end the process with the message of an error that our own code raises.

    The message goes to stderr, followed by the place that raised it.
    """
    try:
        main()
    except REPORTED as error:
        if not is_reported(error):
            raise
        raised = traceback.extract_tb(error.__traceback__)[-1]
        file = Path(raised.filename).resolve().relative_to(ROOT).as_posix()
        sys.exit(f"error: {error}\n({type(error).__name__} in {file}, line {raised.lineno})")


def is_reported(error: Exception) -> bool:
    """Tell whether our own code raised an error, whose message then says what to do."""
    raised = traceback.extract_tb(error.__traceback__)[-1:]
    file = Path(raised[0].filename).resolve() if raised else Path()
    return isinstance(error, REPORTED) and any(file.is_relative_to(folder) for folder in OWN)


def network_options(description: str | None, mixes: Sequence[str]) -> argparse.Namespace:
    """Read `--mix`, one of `mixes`, and `--seed`, with which a network is trained."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--mix", required=True, choices=mixes)
    parser.add_argument("--seed", type=int, required=True, help="that it is trained with")
    return parser.parse_args()


def listed(names: Sequence[str], most: int = 10) -> str:
    """Name the first of some things, and count the others."""
    rest = [f"{len(names) - most:,} more"] if len(names) > most else []
    return ", ".join([*names[:most], *rest])


def markdown_table(
    head: Sequence[str], rows: Iterable[Sequence[str]], rule: Sequence[str] = ()
) -> str:
    """Write a Markdown table; a `|` inside a cell is escaped. `rule` aligns the columns."""
    lines = [[cell.replace("|", "\\|") for cell in line] for line in (head, *rows)]
    lines.insert(1, [*(rule or ["---"] * len(head))])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def print_counts(counts: Mapping[str, object]) -> None:
    """Print counts; those that stand within one another have a line of their own."""
    print(*_lines(counts), sep="\n")


def _lines(counts: Mapping[str, object], within: str = "") -> Iterator[str]:
    """Yield `NAME: COUNT VALUE, ...` for each mapping that holds values."""
    spaced = {name.replace("_", " "): value for name, value in counts.items()}
    words = ", ".join(
        f"{name} {value:,}" if isinstance(value, int | float) else f"{name} {value}"
        for name, value in spaced.items()
        if not isinstance(value, Mapping)
    )
    if words:
        yield f"{within}: {words}" if within else words
    for name, value in spaced.items():
        if isinstance(value, Mapping):
            yield from _lines(value, f"{within}, {name}" if within else name)
