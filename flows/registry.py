"""What the flow needs of registering and promoting; the one place that names those modules.

They are imported only when the flow runs (MLflow takes seconds), and tests hand in others.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Protocol

REGISTER = "tasks.registry.register"
PROMOTE = "tasks.registry.promote"


class Registered(Protocol):
    """A version in the registry; `already_registered` when its artefact was there before."""

    @property
    def name(self) -> str:
        """Of the registered model."""

    @property
    def version(self) -> str:
        """As the registry numbers it."""

    @property
    def alias(self) -> str:
        """`challenger` or `champion`, before the gate."""

    @property
    def already_registered(self) -> bool:
        """Whether the same artefact was there before."""


class Decision(Protocol):
    """The gate's answer, with its reason and the figures it rests on."""

    @property
    def promoted(self) -> bool:
        """Whether the version is champion now."""

    @property
    def reason(self) -> str:
        """In a sentence."""

    @property
    def table_markdown(self) -> str:
        """The figures it rests on."""


@dataclass(frozen=True)
class Registry:
    """`register(root)` makes a version of the files below `root`; `promote` asks the gate."""

    register: Callable[[Path], Registered]
    promote: Callable[[Path, str], Decision]


def project_standing(root: Path) -> tuple[Registered, Decision] | None:
    """Return the version of the files below `root` and its decision, if both are there already."""
    standing: tuple[Registered, Decision] | None = import_module(PROMOTE).standing(root)
    return standing


def project_registry() -> Registry:
    """Return the project's own, imported at the moment of use."""

    def register(root: Path) -> Registered:
        registered: Registered = import_module(REGISTER).register(root)
        return registered

    def promote(root: Path, version: str) -> Decision:
        decision: Decision = import_module(PROMOTE).promote(root, version)
        return decision

    return Registry(register, promote)
