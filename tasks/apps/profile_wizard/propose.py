"""From files to the proposal of a profile: their form, and the roles of their columns.

A dry run tests every guess: it reads the files as the stage `ingest` will.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import NamedTuple

from tasks.apps.profile_wizard.column_inference import (
    ColumnGuess,
    Unclear,
    by_name,
    inputs_columns,
    synonyms_columns,
    taxonomy_columns,
)
from tasks.apps.profile_wizard.column_stats import ColumnStats, FileStats, inspect_file
from tasks.apps.profile_wizard.dry_run import (
    ProposalError,
    read_raw_titles,
    read_taxonomy,
    too_many,
)
from tasks.apps.profile_wizard.preview import ROLES, by_label, counts, preview, the_columns
from tasks.apps.profile_wizard.profile_text import profile_text
from tasks.io.section import read_values
from tasks.tables.records import Format
from tasks.tables.rejected import RejectedRows

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")  # of a model in the registry
Guesses = dict[str, ColumnGuess]
NEEDED = {
    "taxonomy": ("occupation_id", "title"),
    "inputs": ("raw_title",),
    "synonyms": ("term", "synonym"),
}


class Proposal(NamedTuple):
    """A profile's name, its text, and a preview of the files, as lines for a terminal."""

    name: str
    text: str
    preview: list[str]


def require_name(name: str) -> None:
    """Refuse what no registered model can be called.

    Raises:
        ProposalError: with what is allowed.
    """
    if not NAME.fullmatch(name):
        raise ProposalError(
            f"{name!r} is no name of a profile: letters (a to z), digits, - and _, such as 'mine'"
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
) -> Proposal:
    """Look at the files and propose a profile.

    `name`: of the profile; the model will be `rolecall-NAME`; `inputs`: a table of raw titles, some
    of them labelled, or one a line without a header; `columns`: one of `ROLES` -> a file's column,
    where a guess is not wanted; empty: none; `delimiter`: of all files, where what is found is not
    wanted; `encoding`: of the files that are no plain UTF-8 or UTF-16.

    Raises:
        ProposalError: what a column holds is unclear, or the files cannot be learned from.
        IngestError: a file is missing, or is no table.
    """
    require_name(name)
    overrides, form = _by_file(columns or {}), Format(delimiter, encoding)
    rejected_rows = RejectedRows()
    files = {"taxonomy": inspect_file(taxonomy.resolve(), form)}
    guesses = {"taxonomy": _guess("taxonomy", files, overrides, taxonomy_columns)}
    read = read_taxonomy(files["taxonomy"], guesses["taxonomy"], rejected_rows)
    lines = [*preview("taxonomy", files, guesses), counts(read)]
    if inputs:
        files["inputs"] = inspect_file(inputs.resolve(), form)
        guesses["inputs"] = _guess_inputs(files, overrides, read.titles)
        frame = read_raw_titles(files["inputs"], guesses["inputs"], read, rejected_rows)
        labelled = frame["occupation_id"].count()
        lines += preview("inputs", files, guesses)
        lines += [f"  {len(frame)} inputs, {labelled} labelled"]
        lines += by_label(files, guesses, read)
    if synonyms:
        files["synonyms"] = inspect_file(synonyms.resolve(), form)
        guesses["synonyms"] = _guess("synonyms", files, overrides, synonyms_columns)
        lines += preview("synonyms", files, guesses)
    lines += too_many(
        rejected_rows, read_values(root / "params.yaml")["ingest"]["max_rejected_share"]
    )
    titles = sum(map(len, read.titles.values()))
    return Proposal(name, profile_text(name, files, guesses, titles, root.resolve()), lines)


def _by_file(columns: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Group overrides by file; names are then those of a column map.

    Raises:
        ProposalError: a name is none of `ROLES`.
    """
    known = [role for roles in ROLES.values() for role in roles]
    if unknown := sorted(set(columns) - set(known)):
        raise ProposalError(f"--column {unknown[0]}=...: choose {', '.join(known)}")
    return {
        file: {role.removeprefix("inputs."): columns[role] for role in roles if role in columns}
        for file, roles in ROLES.items()
    }


def _guess_inputs(
    files: Mapping[str, FileStats],
    overrides: Mapping[str, Mapping[str, str]],
    known: Collection[str],
) -> Guesses:
    """Guess the columns; none where one title stands a line, the first in place of a header."""
    only = list(files["inputs"].columns)
    if len(only) == 1 and not overrides["inputs"] and not by_name(only[0], "raw_title"):
        return {}
    return _guess(
        "inputs", files, overrides, lambda seen, chosen: inputs_columns(seen, chosen, known)
    )


def _guess(
    file: str,
    files: Mapping[str, FileStats],
    overrides: Mapping[str, Mapping[str, str]],
    guess: Callable[[Mapping[str, ColumnStats], Mapping[str, str]], Guesses],
) -> Guesses:
    """Guess the columns of one file; those that are not wanted are left out.

    Raises:
        ProposalError: with the columns that there are, and what to say.
    """
    seen = files[file]
    for role, column in overrides[file].items():
        if column not in seen.columns and (column or role in NEEDED[file]):
            raise ProposalError(f"--column {role}={column}: {the_columns(seen)}")
    try:
        guesses = guess(seen.columns, overrides[file])
    except Unclear as unclear:
        raise ProposalError(
            f"{unclear}. {the_columns(seen)}\nSay which with --column ROLE=COLUMN; ROLE is one of "
            f"{', '.join(ROLES[file])}. A taxonomy has one title a row."
        ) from None
    return {role: one for role, one in guesses.items() if one.column}
