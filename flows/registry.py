"""Calls the model registry: registers versions, runs the gate, lists versions, rolls back.

This is the only module of `flows/` that names the registry's modules. Each runs as a process in the
root whose model it handles; the last line that it prints is JSON.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flows.processes.command import hide, run_command
from flows.processes.streaming import Show

PROMOTE = "tasks.release.registry.promote"
LISTING = "tasks.release.registry.listing"
ROLLBACK = "tasks.release.registry.rollback"


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


def register_model(root: Path, show: Show) -> RegistrationResult:
    """Make a version of the files in `root`, once per content."""
    return RegistrationResult(**_json(root, show, "tasks.release.registry.register"))


def run_gate(root: Path, version: str, show: Show) -> GateResult:
    """Let the gate decide whether `version` becomes champion."""
    return GateResult(**_json(root, show, PROMOTE, "--version", version))


def current_version(root: Path) -> VersionAndDecision | None:
    """Return the version of the files in `root` and its decision, if both exist."""
    return _version_and_decision(_json(root, hide, PROMOTE, "--standing"))


def patch_champion(root: Path, show: Show) -> VersionAndDecision | None:
    """Register the champion with the reviewers' feedback; None if it has all of it already."""
    return _version_and_decision(_json(root, show, "tasks.release.feedback_patch"))


def list_models(root: Path, *, only_address: bool) -> list[str]:
    """Return lines about the registered versions of the root's model, or the address alone."""
    return run_command(LISTING, ["--address"] if only_address else [], root, name=LISTING)


def roll_back(root: Path, version: str | None, reason: str, show: Show) -> list[str]:
    """Make an earlier version champion; return the lines that report it."""
    options = [f"--reason={reason}", *([f"--to={version}"] if version else [])]
    return run_command(ROLLBACK, options, root, show, name=ROLLBACK)


def _version_and_decision(result: dict[str, Any]) -> VersionAndDecision | None:
    if not result:
        return None
    return RegistrationResult(**result["registered"]), GateResult(**result["decision"])


def _json(root: Path, show: Show, module: str, *arguments: str) -> dict[str, Any]:
    """Run a module of the registry and parse its last line; `null` becomes an empty dict."""

    def show_progress(line: str) -> None:
        if not line.startswith(("{", "null")):
            show(line)

    lines = run_command(module, ["--json", *arguments], root, show_progress, name=module)
    result: dict[str, Any] | None = json.loads(lines[-1])
    return result or {}
