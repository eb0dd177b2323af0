"""From files to the draft of a profile: their form, and the roles of their columns.

A dry run tests every choice: it reads the files as the stage `ingest` will.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
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
from tasks.tables.source_files import SourceFile

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,79}")  # of a model in the registry, and of a folder
SHOWN, WIDEST = 3, 80  # refused rows that are shown, and their characters
Overrides = Mapping[str, Sequence[str]]
"""A role to the columns that have it: one, or several of titles; an empty name is no column."""
SEVERAL = "title"
"""The only role that several columns may have, one for each language for example."""
Infer = Callable[[Mapping[str, ColumnStats], Mapping[str, str]], Choices]
NEEDED = {
    "taxonomy": ("occupation_id", "title"),
    "inputs": ("raw_title",),
    "synonyms": ("term", "synonym"),
}


ADVICE = {
    SEVERAL: "; both together are possible, too",
    "occupation_id": ". Choose the column that has the same value in all rows of an occupation. If "
    "each row is an occupation, add --column title=COLUMN for each column of titles as well",
}
"""The end of a message about a role that is unclear."""


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
            raise DraftError(
                f"{_in_words(role, columns[role])}: only {SEVERAL} has several columns"
            )
    return columns


def propose(
    name: str,
    files: Mapping[str, Sequence[Path]],
    *,
    root: Path,
    columns: Overrides | None = None,
    delimiter: str = "",
    encoding: str = "",
) -> ProfileDraft:
    """Inspect the files and draft a profile.

    `name`: of the profile; the model will be `rolecall-NAME`; `files`: those of `taxonomy`, and if
    there are any of `inputs` (tables of raw titles, some of them labelled, or one a line without a
    header) and of `synonyms`; files of one kind have the same columns; `columns`: one of `ROLES` ->
    a file's columns, in place of the inferred one; empty: none; `delimiter`: of all files, in place
    of the detected one; `encoding`: of the files that are no plain UTF-8 or UTF-16.

    Raises:
        DraftError: the name is refused, a column is unclear, or the files cannot be learned from.
        IngestError: a file is missing, or is no table.
    """
    require_name(name)
    overrides, rejected_rows = _by_file(columns or {}), RejectedRows()

    def inspect(role: str, infer: Infer) -> FileStats:
        form = Format(delimiter, encoding)
        file = _joined([inspect_file(path.resolve(), form) for path in files[role]])
        return _chosen(role, file, overrides[role], infer)

    read_files = {"taxonomy": inspect("taxonomy", taxonomy_columns)}
    read = read_taxonomy(read_files["taxonomy"], rejected_rows)
    titles = sum(map(len, read.titles.values()))
    lines = preview("taxonomy", read_files["taxonomy"])
    lines += [f"  {len(read.titles)} occupations, {titles} titles, labels among them"]
    if files.get("inputs"):
        infer = partial(inputs_columns, occupation_ids=read.titles)
        read_files["inputs"] = inspect("inputs", infer)
        frame = read_raw_titles(read_files["inputs"], read, rejected_rows)
        lines += preview("inputs", read_files["inputs"])
        lines += [f"  {len(frame)} inputs, {frame['occupation_id'].count()} labelled"]
        lines += by_label(read_files["taxonomy"], read_files["inputs"], read)
    if files.get("synonyms"):
        read_files["synonyms"] = inspect("synonyms", synonyms_columns)
        lines += preview("synonyms", read_files["synonyms"])
    lines += _refused_rows(rejected_rows)
    max_rejected_share = read_values(root / "params.yaml")["ingest"]["max_rejected_share"]
    errors, rows = rejected_rows.errors, rejected_rows.rows.total()
    if errors > max_rejected_share * rows:  # the stage `ingest` would end
        lines.append(
            f"warning: {errors} of {rows} rows are at fault, more than ingest.max_rejected_share = "
            f"{max_rejected_share:g}: repair the files, or raise it in the profile"
        )
    return ProfileDraft(profile_text(name, read_files, titles, root.resolve()), lines)


def _refused_rows(rejected_rows: RejectedRows) -> list[str]:
    """Count the refused rows by reason, and show the first ones."""
    refused = rejected_rows.frame()
    if refused.is_empty():
        return []
    reasons = [f"{count:,} × {reason}" for reason, count in rejected_rows.reasons().items()]
    first = refused.head(SHOWN).select("file", "line", "reason", "row").iter_rows()
    return [
        f"rows that would be refused: {', '.join(reasons)}",
        *(f"  {file}, line {line}: {reason}: {row[:WIDEST]}" for file, line, reason, row in first),
    ]


def _chosen(role_of_file: str, file: FileStats, overrides: Overrides, infer: Infer) -> FileStats:
    """Choose the columns of one file; overrides that are empty leave theirs out."""
    for role, names in overrides.items():
        for column in names:
            if column not in file.columns and (column or role in NEEDED[role_of_file]):
                raise DraftError(f"{_in_words(role, [column])}: {the_columns(file)}")
    more_titles = tuple(overrides.get(SEVERAL, ()))[1:]
    columns = {name: one for name, one in file.columns.items() if name not in more_titles}
    try:
        choices = infer(columns, {role: names[0] for role, names in overrides.items()})
    except Unclear as unclear:
        options = _in_words(unclear.role, unclear.columns or ["COLUMN"], " or ")
        advice = ADVICE.get(unclear.role, "")
        raise DraftError(f"{unclear}. Add {options}{advice}.\n{the_columns(file)}") from None
    if not choices and not SourceFile.at(file.path, "").is_delimited:
        choices = {"raw_title": list(columns)}  # its only column has a name for sure
    chosen = {role: choice for role, choice in choices.items() if choice[0]}
    return replace(file, choices=chosen, more_titles=more_titles)


def _joined(files: Sequence[FileStats]) -> FileStats:
    """Return the columns that all files have, with the values of all.

    Files of a single column, which need not have a header, are joined whatever its name. A
    delimiter or an encoding in which the files differ is left to be detected in each.

    Raises:
        DraftError: the files have no column in common.
    """
    first, *others = files
    if all(len(file.columns) == 1 for file in files):
        columns = {
            name: [one for file in files for one in file.columns.values()] for name in first.columns
        }
    else:
        shared = [name for name in first.columns if all(name in one.columns for one in others)]
        columns = {name: [file.columns[name] for file in files] for name in shared}
    if not columns:
        names = "; ".join(f"{file.path.name}: {', '.join(file.columns)}" for file in files)
        raise DraftError(f"files of one option have the same columns, these have none: {names}")
    return replace(
        first,
        form=Format(
            _the_same(file.form.delimiter for file in files),
            _the_same(file.form.encoding for file in files),
        ),
        read_as=" / ".join(dict.fromkeys(file.read_as for file in files)),
        columns={
            name: ColumnStats(name, [value for column in parts for value in column.values])
            for name, parts in columns.items()
        },
        others=tuple(file.path for file in others),
    )


def _the_same(values: Iterable[str]) -> str:
    """Return the value if all are the same, otherwise an empty one."""
    distinct = {*values}
    return distinct.pop() if len(distinct) == 1 else ""


def _by_file(columns: Overrides) -> dict[str, dict[str, Sequence[str]]]:
    """Group roles by their file; a column map has them without the file's name."""
    return {
        file: {role.removeprefix("inputs."): columns[role] for role in roles if role in columns}
        for file, roles in ROLES.items()
    }


def _in_words(role: str, columns: Sequence[str], between: str = " ") -> str:
    """Write the options as a user types them."""
    return between.join(f"--column {shlex.quote(f'{role}={column}')}" for column in columns)
