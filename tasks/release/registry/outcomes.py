"""The outcomes of registration, gate and feedback, which flows show without importing MLflow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True)
class RegisteredVersion:
    """A version in the registry."""

    name: str
    version: str
    alias: str  # `challenger`, `champion` or `none`, before the gate
    already_registered: bool  # the same model package was there before


@dataclass(frozen=True)
class Promotion:
    """The gate's answer about one version."""

    promoted: bool  # whether the version is champion now
    reason: str  # in a sentence
    table_markdown: str  # the figures that it rests on; empty if nothing was compared


VersionAndDecision = tuple[RegisteredVersion, Promotion]


class Patched(NamedTuple):
    """Versions with later feedback, None where there is nothing new."""

    champion: VersionAndDecision | None
    waiting: VersionAndDecision | None  # the challenger that waited for people's verdicts
