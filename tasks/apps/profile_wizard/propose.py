"""From files to the draft of a profile: their form, and the roles of their columns.

A dry run tests every choice: it reads the files as the stage `ingest` will.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

from tasks.apps.profile_wizard.column_inference import (
    Unclear,
    inputs_columns,
    synonyms_columns,
    taxonomy_columns,
)
from tasks.apps.profile_wizard.column_stats import Choices, ColumnStats, FileStats, inspect_file
from tasks.apps.profile_wizard.dry_run import (
    DraftError,
    read_raw_titles,
    read_taxonomy,
)
from tasks.apps.profile_wizard.preview import ROLES, by_label, preview, the_columns
from tasks.apps.profile_wizard.profile_text import profile_text
from tasks.io.section import read_values
from tasks.tables.records import Format
from tasks.tables.rejected import RejectedRows

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,79}")  # of a model in the registry, and of a folder
Infer = Callable[[Mapping[str, ColumnStats], Mapping[str, str]], Choices]
NEEDED = {
    "taxonomy": ("occupation_id", "title"),
    "inputs": ("raw_title",),
    "synonyms": ("term", "synonym"),
}


class ProfileDraft(NamedTuple):
    """A profile's text, and a preview of the files, as lines for a terminal."""

    text: str
    preview: list[str]


def require_name(name: str) -> None:
    """Refuse a name that no registered model can have, with a DraftError."""
    if not NAME.fullmatch(name):
        raise DraftError(
            f"{name[:80]!r} is no name of a profile: up to 80 letters (a to z), digits, - and _, "
            "such as 'mine'"
        )


def propose(
    name: str,
    taxonomy: Path,
    inputs: Path | None = None,
    synonyms: Path | None = None,
    *,
    root: Path,
    columns: Mapping[str, str] | None = None,
    delimiter: str = "",
    encoding: str = "",
) -> ProfileDraft:
    """Inspect the files and draft a profile.

    `name`: of the profile; the model will be `rolecall-NAME`; `inputs`: a table of raw titles, some
    of them labelled, or one a line without a header; `columns`: one of `ROLES` -> a file's column,
    in place of the inferred one; empty: none; `delimiter`: of all files, in place of the detected
    one; `encoding`: of the files that are no plain UTF-8 or UTF-16.

    Raises:
        DraftError: the name is refused, a column is unclear, or the files cannot be learned from.
        IngestError: a file is missing, or is no table.
    """
    require_name(name)
    overrides, rejected_rows = _by_file(columns or {}), RejectedRows()

    def inspect(role: str, path: Path, infer: Infer) -> FileStats:
        file = inspect_file(path.resolve(), Format(delimiter, encoding))
        return replace(file, choices=_choices(role, file, overrides[role], infer))

    files = {"taxonomy": inspect("taxonomy", taxonomy, taxonomy_columns)}
    read = read_taxonomy(files["taxonomy"], rejected_rows)
    titles = sum(map(len, read.titles.values()))
    lines = preview("taxonomy", files["taxonomy"])
    lines += [f"  {len(read.titles)} occupations, {titles} titles, labels among them"]
    if inputs:
        infer = partial(inputs_columns, occupation_ids=read.titles)
        files["inputs"] = inspect("inputs", inputs, infer)
        frame = read_raw_titles(files["inputs"], read, rejected_rows)
        lines += preview("inputs", files["inputs"])
        lines += [f"  {len(frame)} inputs, {frame['occupation_id'].count()} labelled"]
        lines += by_label(files["taxonomy"], files["inputs"], read)
    if synonyms:
        files["synonyms"] = inspect("synonyms", synonyms, synonyms_columns)
        lines += preview("synonyms", files["synonyms"])
    max_rejected_share = read_values(root / "params.yaml")["ingest"]["max_rejected_share"]
    errors, rows = rejected_rows.errors, rejected_rows.rows.total()
    if errors > max_rejected_share * rows:  # the stage `ingest` would end
        lines.append(
            f"warning: {errors} of {rows} rows are at fault, more than ingest.max_rejected_share = "
            f"{max_rejected_share:g}: repair the files, or raise it in the profile"
        )
    return ProfileDraft(profile_text(name, files, titles, root.resolve()), lines)


def _by_file(columns: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Group overrides, whose names have to be of `ROLES`, by file; a column map has these names."""
    allowed = [role for roles in ROLES.values() for role in roles]
    if unknown := sorted(set(columns) - set(allowed)):
        raise DraftError(f"--column {unknown[0]}=...: choose {', '.join(allowed)}")
    return {
        file: {role.removeprefix("inputs."): columns[role] for role in roles if role in columns}
        for file, roles in ROLES.items()
    }


def _choices(
    role_of_file: str, file: FileStats, overrides: Mapping[str, str], infer: Infer
) -> Choices:
    """Choose the columns of one file; overrides that are empty leave theirs out."""
    for role, column in overrides.items():
        if column not in file.columns and (column or role in NEEDED[role_of_file]):
            raise DraftError(f"--column {role}={column}: {the_columns(file)}")
    try:
        choices = infer(file.columns, overrides)
    except Unclear as unclear:
        raise DraftError(
            f"{unclear}. {the_columns(file)}\nSay which with --column ROLE=COLUMN; ROLE is one of "
            f"{', '.join(ROLES[role_of_file])}. A taxonomy has one title a row."
        ) from None
    return {role: choice for role, choice in choices.items() if choice[0]}
