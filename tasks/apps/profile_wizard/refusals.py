"""What cannot be proposed: a profile's name, columns that are unclear, files without substance."""

from __future__ import annotations

import re
from pathlib import Path

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")  # of a model in the registry


class ProposalError(ValueError):
    """No profile can be proposed, or written; the message says what to change or to add."""


def require_name(name: str) -> None:
    """Refuse what no registered model can be called.

    Raises:
        ProposalError: with what is allowed.
    """
    if not NAME.fullmatch(name):
        raise ProposalError(
            f"{name!r} is no name of a profile: letters (a to z), digits, - and _, such as 'mine'"
        )


def require_new(path: Path, force: bool) -> None:
    """Refuse to overwrite a profile unawares.

    Raises:
        ProposalError: it exists, and `force` is not given.
    """
    if path.exists() and not force:
        raise ProposalError(f"{path} exists: choose another name, or --force to overwrite it")
