"""What the flow needs of registering and promoting; the one place that names those modules.

They run as processes in the root that they are asked about, as the stages do, so that what decides
is the code of that root; their last line is JSON. Tests hand in others.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flows.failure import failed
from flows.processes.streaming import stream

REGISTER = "tasks.registry.register"
PROMOTE = "tasks.registry.promote"
LISTING = "tasks.registry.listing"
ROLLBACK = "tasks.registry.rollback"
CORRECTIONS = "tasks.registry.corrections"
Say = Callable[[str], None]


@dataclass(frozen=True)
class Registered:
    """A version in the registry.

    Attributes:
        name: of the registered model.
        version: as the registry numbers it.
        alias: `challenger` or `champion`, before the gate.
        already_registered: whether the same artefact was there before.
    """

    name: str
    version: str
    alias: str
    already_registered: bool


@dataclass(frozen=True)
class Decision:
    """The gate's answer.

    Attributes:
        promoted: whether the version is champion now.
        reason: in a sentence.
        table_markdown: the figures it rests on.
    """

    promoted: bool
    reason: str
    table_markdown: str


@dataclass(frozen=True)
class Registry:
    """`register(root)` makes a version of the files below `root`; `promote` asks the gate."""

    register: Callable[[Path], Registered]
    promote: Callable[[Path, str], Decision]


def project_registry(say: Say) -> Registry:
    """Return the project's own; `say` is told what it says on its way."""
    return Registry(
        lambda root: Registered(**_asked(root, say, REGISTER)),
        lambda root, version: Decision(**_asked(root, say, PROMOTE, "--version", version)),
    )


def project_standing(root: Path) -> tuple[Registered, Decision] | None:
    """Return the version of the files below `root` and its decision, if both are there already."""
    standing = _asked(root, lambda _: None, PROMOTE, "--standing")
    if not standing:
        return None
    return Registered(**standing["registered"]), Decision(**standing["decision"])


def project_listing(root: Path, *, only_address: bool) -> list[str]:
    """Return what the registry holds of the model of `root`, in lines, or its address alone."""
    command = [sys.executable, "-m", LISTING, *(["--address"] if only_address else [])]
    return _lines(root, command, lambda _: None)


def project_rollback(root: Path, to: str | None, why: str, say: Say) -> list[str]:
    """Make an earlier version of the model of `root` champion; return what was done, in lines."""
    words = [f"--why={why}", *([f"--to={to}"] if to else [])]
    return _lines(root, [sys.executable, "-m", ROLLBACK, *words], say)


def project_corrections(root: Path, say: Say) -> tuple[Registered, Decision] | None:
    """Put what people said to work in the champion of `root`; None if it knows it already."""
    done = _asked(root, say, CORRECTIONS)
    return (Registered(**done["registered"]), Decision(**done["decision"])) if done else None


def _asked(root: Path, say: Say, module: str, *arguments: str) -> dict[str, Any]:
    """Run a module and read what it has found."""
    command = [sys.executable, "-m", module, "--json", *arguments]
    lines = _lines(
        root, command, lambda line: None if line.startswith(("{", "null")) else say(line)
    )
    answer: dict[str, Any] = json.loads(lines[-1])
    return answer


def _lines(root: Path, command: Sequence[str], say: Say) -> list[str]:
    """Run a command in `root` and return its lines.

    Raises:
        StageFailed: with its last words.
    """
    status, lines = stream(command, root, say)
    if status:
        raise failed(command[2], status, lines)
    return lines
