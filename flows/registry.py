"""Calls the model registry: registers versions, runs the gate, lists versions, rolls back.

This is the only module of `flows/` that names the registry's modules. Each runs as a process in the
root whose model it handles; the last line that it prints is JSON. Tests pass a `Registry` of their
own.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flows.processes.command import hide, run_command
from flows.processes.streaming import Show

REGISTER = "tasks.release.registry.register"
PROMOTE = "tasks.release.registry.promote"
LISTING = "tasks.release.registry.listing"
ROLLBACK = "tasks.release.registry.rollback"
FEEDBACK_PATCH = "tasks.release.feedback_patch"


@dataclass(frozen=True)
class RegistrationResult:
    """A version of a registered model."""

    name: str
    version: str
    alias: str  # `challenger` or `champion`, before the gate
    already_registered: bool  # the same model package was there before


@dataclass(frozen=True)
class GateResult:
    """The decision of the gate."""

    promoted: bool  # the version is champion now
    reason: str
    table_markdown: str  # the figures behind the decision


VersionAndDecision = tuple[RegistrationResult, GateResult]


@dataclass(frozen=True)
class Registry:
    """`register(root)` makes a version of the files in `root`; `promote` asks the gate."""

    register: Callable[[Path], RegistrationResult]
    promote: Callable[[Path, str], GateResult]


def project_registry(show: Show) -> Registry:
    """Return the project's own registry; `show` takes the progress of its commands."""
    return Registry(
        lambda root: RegistrationResult(**_json(root, show, REGISTER)),
        lambda root, version: GateResult(**_json(root, show, PROMOTE, "--version", version)),
    )


def current_version(root: Path) -> VersionAndDecision | None:
    """Return the version of the files in `root` and its decision, if both exist."""
    return _version_and_decision(_json(root, hide, PROMOTE, "--standing"))


def patch_champion(root: Path, show: Show) -> VersionAndDecision | None:
    """Register the champion with the reviewers' feedback; None if it has all of it already."""
    return _version_and_decision(_json(root, show, FEEDBACK_PATCH))


def list_models(root: Path, *, only_address: bool) -> list[str]:
    """Return lines about the registered versions of the root's model, or the address alone."""
    return run_command(LISTING, ["--address"] if only_address else [], root, name=LISTING)


def roll_back(root: Path, version: str | None, reason: str, show: Show) -> list[str]:
    """Make an earlier version champion; return lines that say what was done."""
    options = [f"--reason={reason}", *([f"--to={version}"] if version else [])]
    return run_command(ROLLBACK, options, root, show, name=ROLLBACK)


def _version_and_decision(answer: dict[str, Any]) -> VersionAndDecision | None:
    if not answer:
        return None
    return RegistrationResult(**answer["registered"]), GateResult(**answer["decision"])


def _json(root: Path, show: Show, module: str, *arguments: str) -> dict[str, Any]:
    """Run a module of the registry and parse its last line; `null` becomes an empty dict."""

    def show_progress(line: str) -> None:
        if not line.startswith(("{", "null")):
            show(line)

    lines = run_command(module, ["--json", *arguments], root, show_progress, name=module)
    answer: dict[str, Any] | None = json.loads(lines[-1])
    return answer or {}
