"""`rolecall registry`: where the models are, their versions, and who is champion."""

from __future__ import annotations

from flows.commands.ending import ending
from flows.commands.place import clone
from flows.commands.status import existing
from flows.registry import project_listing


def registry(profile: str | None, *, only_address: bool) -> None:
    """Print what is registered of the clone's model or the profile's."""
    with ending():
        root = clone()
        root = existing(root, profile) if profile else root
        print("\n".join(project_listing(root, only_address=only_address)))
