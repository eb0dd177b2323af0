"""From files to the proposal of a profile: how they are written, which column holds what.

Guesses are tried at once: the files are read as the stage `ingest` will read them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import NamedTuple

from tasks.params.section import read_values
from tasks.proposal.guesses import (
    Guess,
    Unclear,
    inputs_columns,
    synonyms_columns,
    taxonomy_columns,
)
from tasks.proposal.looked_at import Column, LookedAt, look_at
from tasks.proposal.names import by_name
from tasks.proposal.profile_text import profile_text
from tasks.proposal.refusals import ProposalError, require_name
from tasks.proposal.shown import ROLES, by_label, counts, shown, the_columns
from tasks.proposal.trial import read_raw_titles, read_taxonomy, too_many
from tasks.readers.records import Format
from tasks.readers.rejected import RejectedRows

Guesses = dict[str, Guess]
NEEDED = {
    "taxonomy": ("occupation_id", "title"),
    "inputs": ("raw_title",),
    "synonyms": ("term", "synonym"),
}


class Proposal(NamedTuple):
    """A profile's name, its text, and what was found, as lines for a terminal."""

    name: str
    text: str
    shown: list[str]


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

    Args:
        name: of the profile; the model will be `rolecall-NAME`.
        taxonomy: a table with one title a row.
        inputs: a table of raw titles, some of them labelled, or one a line without a header.
        synonyms: a table of pairs.
        root: the main tree.
        columns: one of `ROLES` -> a file's column, where a guess is not wanted; empty: none.
        delimiter: of all files, where what is found is not wanted.
        encoding: of the files that are no plain UTF-8 or UTF-16.

    Raises:
        ProposalError: what a column holds is unclear, or the files cannot be learned from.
        IngestError: a file is missing, or is no table.
    """
    require_name(name)
    told, asked = _told(columns or {}), Format(delimiter, encoding)
    ledger = RejectedRows()
    files = {"taxonomy": look_at(taxonomy.resolve(), asked)}
    guesses = {"taxonomy": _guess("taxonomy", files, told, taxonomy_columns)}
    read = read_taxonomy(files["taxonomy"], guesses["taxonomy"], ledger)
    lines = [*shown("taxonomy", files, guesses), counts(read)]
    if inputs:
        files["inputs"] = look_at(inputs.resolve(), asked)
        guesses["inputs"] = _guess_inputs(files, told, read.titles)
        frame = read_raw_titles(files["inputs"], guesses["inputs"], read, ledger)
        labelled = frame["occupation_id"].count()
        lines += shown("inputs", files, guesses)
        lines += [f"  {len(frame)} inputs, {labelled} labelled"]
        lines += by_label(files, guesses, read)
    if synonyms:
        files["synonyms"] = look_at(synonyms.resolve(), asked)
        guesses["synonyms"] = _guess("synonyms", files, told, synonyms_columns)
        lines += shown("synonyms", files, guesses)
    lines += too_many(ledger, read_values(root / "params.yaml")["ingest"]["max_rejected_share"])
    titles = sum(map(len, read.titles.values()))
    return Proposal(name, profile_text(name, files, guesses, titles, root.resolve()), lines)


def _told(columns: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Part what was told by file; names are then those of a column map.

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
    files: Mapping[str, LookedAt], told: Mapping[str, Mapping[str, str]], known: Collection[str]
) -> Guesses:
    """Guess the columns; none where one title stands a line, the first in place of a header."""
    only = list(files["inputs"].columns)
    if len(only) == 1 and not told["inputs"] and not by_name(only[0], "raw_title"):
        return {}
    return _guess("inputs", files, told, lambda seen, said: inputs_columns(seen, said, known))


def _guess(
    file: str,
    files: Mapping[str, LookedAt],
    told: Mapping[str, Mapping[str, str]],
    guess: Callable[[Mapping[str, Column], Mapping[str, str]], Guesses],
) -> Guesses:
    """Guess the columns of one file; those that are not wanted are left out.

    Raises:
        ProposalError: with the columns that there are, and what to say.
    """
    seen = files[file]
    for role, column in told[file].items():
        if column not in seen.columns and (column or role in NEEDED[file]):
            raise ProposalError(f"--column {role}={column}: {the_columns(seen)}")
    try:
        guesses = guess(seen.columns, told[file])
    except Unclear as unclear:
        raise ProposalError(
            f"{unclear}. {the_columns(seen)}\nSay which with --column ROLE=COLUMN; ROLE is one of "
            f"{', '.join(ROLES[file])}. A taxonomy has one title a row."
        ) from None
    return {role: one for role, one in guesses.items() if one.column}
