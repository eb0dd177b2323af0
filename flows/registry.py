"""Calls the model registry: registers versions, runs the gate, corrects the champion.

Each module of the registry runs as a process in the root whose model it handles; the last line that
it prints is JSON.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from flows.processes.command import hide, run_command
from flows.processes.streaming import Show
from tasks.release.registry.outcomes import (
    Patched,
    Promotion,
    RegisteredVersion,
    VersionAndDecision,
)

PROMOTE = "tasks.release.registry.promote"


def register_model(root: Path, show: Show) -> RegisteredVersion:
    """Make a version of the files in `root`, once per content."""
    return RegisteredVersion(**_json(root, show, "tasks.release.registry.register"))


def run_gate(root: Path, version: str, show: Show) -> Promotion:
    """Let the gate decide whether `version` becomes champion."""
    return Promotion(**_json(root, show, PROMOTE, "--version", version))


def current_version(root: Path) -> VersionAndDecision | None:
    """Return the version of the files in `root` and its decision, if both exist."""
    return _version_and_decision(_json(root, hide, PROMOTE, "--standing"))


def apply_patches(root: Path, show: Show) -> Patched:
    """Register the champion, and the challenger that waits, with the reviewers' feedback."""
    done = _json(root, show, "tasks.release.feedback_patch")
    return Patched(*(_version_and_decision(done[name]) for name in Patched._fields))


def _version_and_decision(result: dict[str, Any] | None) -> VersionAndDecision | None:
    if not result:
        return None
    return RegisteredVersion(**result["registered"]), Promotion(**result["decision"])


def _json(root: Path, show: Show, module: str, *arguments: str) -> dict[str, Any]:
    """Run a module of the registry and parse its last line; `null` becomes an empty dict."""

    def show_progress(line: str) -> None:
        if not line.startswith(("{", "null")):
            show(line)

    lines = run_command(module, ["--json", *arguments], root, show_progress, name=module)
    result: dict[str, Any] | None = json.loads(lines[-1])
    return result or {}
