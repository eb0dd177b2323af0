"""Runs flows within a command: parameters are checked, a server is started, lines are logged."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from flows.commands.error_handling import error_handling, log_to_file


@contextmanager
def run_flow(root: Path, command: str) -> Iterator[None]:
    """Check the parameters, then let the block run flows and keep their lines in a file."""
    from flows.processes.command import check_params

    check_params(root, partial(print, flush=True))
    log = root / "logs" / f"{command}.log"
    with error_handling(log), log_to_file(log):
        from flows.processes.server import server

        with server():
            yield


def print_facts(facts: dict[str, str]) -> None:
    """Print the outcome of a flow."""
    from flows.results import as_facts

    print("\n" + as_facts(facts), flush=True)
