"""A user's corrections of inferred columns: the options `--column ROLE=COLUMN`."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence

from tasks.apps.profile_wizard.dry_run import DraftError
from tasks.apps.profile_wizard.preview import ROLES

Overrides = Mapping[str, Sequence[str]]
"""A role to the columns that have it: one, or several of titles; an empty name is no column."""
SEVERAL = "title"
"""The only role that several columns may have, one for each language for example."""


def parse_options(options: Sequence[str]) -> dict[str, list[str]]:
    """Collect the columns of each role, in the order of the options.

    Raises:
        DraftError: a role is unknown, or another than `SEVERAL` has two columns.
    """
    allowed = [role for roles in ROLES.values() for role in roles]
    columns: dict[str, list[str]] = {}
    for option in options:
        role, _, column = option.partition("=")
        if role not in allowed:
            raise DraftError(f"--column {role}=...: choose {', '.join(allowed)}")
        columns.setdefault(role, []).append(column)
        if len(columns[role]) > 1 and role != SEVERAL:
            raise DraftError(f"{in_words(role, columns[role])}: only {SEVERAL} has several columns")
    return columns


def by_file(columns: Overrides) -> dict[str, dict[str, Sequence[str]]]:
    """Group roles by their file; a column map has them without the file's name."""
    return {
        file: {role.removeprefix("inputs."): columns[role] for role in roles if role in columns}
        for file, roles in ROLES.items()
    }


def in_words(role: str, columns: Sequence[str], between: str = " ") -> str:
    """Write the options as a user types them."""
    return between.join(f"--column {shlex.quote(f'{role}={column}')}" for column in columns)
