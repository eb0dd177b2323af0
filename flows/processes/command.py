"""Runs a module of the pipeline as a process in the root that is worked on, whose code decides."""

from __future__ import annotations

import logging
import sys
from collections.abc import Sequence
from pathlib import Path

from flows.failure import ERROR_STARTS, command_failed
from flows.processes.streaming import Show, stream

GIT_HINTS = (
    "To track the changes",
    "git add",
    "To enable auto staging",
    "dvc config",
    "Use `dvc push`",
)
"""The beginnings of DVC's advice that does not apply here."""
CHECKED: set[tuple[Path, bytes]] = set()
"""Parameters that this process has checked: first a command does, then its flow."""


def hide(line: str) -> None:
    """Show nothing of a command."""


def run_command(
    module: str, arguments: Sequence[str], root: Path, show: Show = hide, *, name: str = ""
) -> list[str]:
    """Run `python -m module` in `root`, show its lines as they come, and return them.

    Raises:
        StageFailed: `NAME failed`, if there is a name, and the command's own message.
    """
    status, lines = stream([sys.executable, "-m", module, *arguments], root, show)
    if status:
        raise command_failed(name, status, lines)
    return lines


def check_params(root: Path, show: Show) -> None:
    """Refuse parameters that some stage cannot work with, before any stage starts.

    Otherwise the stages before training would run for minutes on values that no network can use.

    Raises:
        StageFailed: with the offending values and what is allowed.
    """
    file = root / "params.yaml"
    content = (root.resolve(), file.read_bytes() if file.is_file() else b"")
    if content not in CHECKED:
        run_command("tasks.check_params", [], root, until_error(show))
        CHECKED.add(content)


def until_error(show: Show) -> Show:
    """Show lines up to an error message, because the error that is raised repeats it."""
    failing = False

    def show_progress(line: str) -> None:
        nonlocal failing
        failing = failing or line.startswith(ERROR_STARTS)
        if not failing:
            show(line)

    return show_progress


def log_lines() -> Show:
    """Log lines in the current Prefect run, from an error message on at level ERROR."""
    from prefect import get_run_logger

    log, level = get_run_logger(), logging.INFO

    def show(line: str) -> None:
        nonlocal level
        if line.startswith(ERROR_STARTS):
            level = logging.ERROR
        if line and not line.strip().startswith(GIT_HINTS):
            log.log(level, "%s", line)

    return show
