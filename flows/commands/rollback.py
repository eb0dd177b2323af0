"""`rolecall rollback`: the champion before the last one, again."""

from __future__ import annotations

from flows.commands.ending import ending
from flows.commands.place import clone
from flows.commands.status import existing
from flows.registry import project_rollback


def rollback(profile: str | None, to: str | None, why: str) -> None:
    """Take back the champion of the clone's model or the profile's, and say so."""
    with ending():
        root = clone()
        root = existing(root, profile) if profile else root
        project_rollback(root, to, why, print)
