"""`python -m tasks.proposal.propose NAME --taxonomy FILE`: a profile for one's own files.

Looks at the files, guesses how they are written and which column holds what, reads them as the
stage `ingest` will, and writes `profiles/NAME.yaml`, where every guess stands to be changed.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tasks.files.command import run
from tasks.ingest import InputsParams, TaxonomyParams
from tasks.proposal.guesses import (
    Guess,
    Unclear,
    inputs_columns,
    synonyms_columns,
    taxonomy_columns,
)
from tasks.proposal.looked_at import Column, LookedAt, look_at
from tasks.proposal.profile_text import profile_text
from tasks.readers.inputs import read_inputs
from tasks.readers.records import Format
from tasks.readers.rejected import Ledger
from tasks.readers.taxonomies import table
from tasks.readers.taxonomy import Taxonomy

ROLES = {
    "taxonomy": ("occupation_id", "title", "occupation_label", "codes"),
    "inputs": ("raw_title", "inputs.occupation_id"),
    "synonyms": ("term", "synonym"),
}
NEEDED = ("occupation_id", "title", "raw_title", "term", "synonym")
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")  # of a model in the registry
SHOWN = 3  # values of a column
Guesses = dict[str, Guess]


class ProposalError(ValueError):
    """No profile can be proposed, or written; the message says what to change or to add."""


@dataclass(frozen=True)
class Proposal:
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
        inputs: a table of raw titles, some of them labelled.
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
    told = _told(columns or {})
    asked = Format(delimiter, encoding)
    files = {"taxonomy": look_at(taxonomy.resolve(), asked)}
    guesses = {"taxonomy": _guess("taxonomy", files, told, taxonomy_columns)}
    read, found = _read_taxonomy(files["taxonomy"], guesses["taxonomy"])
    shown = _shown("taxonomy", files, guesses, found)
    if inputs:
        files["inputs"] = look_at(inputs.resolve(), asked)
        guesses["inputs"] = _guess(
            "inputs", files, told, lambda seen, said: inputs_columns(seen, said, read.titles)
        )
        found = _read_inputs(files["inputs"], guesses["inputs"], read)
        shown += _shown("inputs", files, guesses, found)
    if synonyms:
        files["synonyms"] = look_at(synonyms.resolve(), asked)
        guesses["synonyms"] = _guess("synonyms", files, told, synonyms_columns)
        shown += _shown("synonyms", files, guesses, "")
    return Proposal(name, profile_text(name, files, guesses, root.resolve()), shown)


def write(proposal: Proposal, root: Path, force: bool = False) -> Path:
    """Write `profiles/NAME.yaml` and return its path.

    Raises:
        ProposalError: it exists, and `force` is not given.
    """
    path = root / "profiles" / f"{proposal.name}.yaml"
    require_new(path, force)
    path.parent.mkdir(exist_ok=True)
    path.write_text(proposal.text, encoding="utf-8")
    return path


def require_new(path: Path, force: bool) -> None:
    """Refuse to overwrite a profile unawares.

    Raises:
        ProposalError: it exists, and `force` is not given.
    """
    if path.exists() and not force:
        raise ProposalError(f"{path} exists: choose another name, or --force to overwrite it")


def require_name(name: str) -> None:
    """Refuse what no registered model can be called.

    Raises:
        ProposalError: with what is allowed.
    """
    if not NAME.fullmatch(name):
        raise ProposalError(
            f"{name!r} is no name of a profile: letters (a to z), digits, - and _, such as 'mine'"
        )


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
    seen, said = files[file], told[file]
    prefix = {"occupation_id": "inputs."} if file == "inputs" else {}
    for role, column in said.items():
        if column not in seen.columns and (column or (role in NEEDED and file != "inputs")):
            raise ProposalError(
                f"--column {prefix.get(role, '')}{role}={column}: {_there_are(seen)}"
            )
    try:
        guesses = guess(seen.columns, said)
    except Unclear as unclear:
        raise ProposalError(
            f"{unclear}. {_there_are(seen)}\nSay which with --column ROLE=COLUMN, where ROLE is "
            f"one of {', '.join(ROLES[file])}; a taxonomy has one title a row."
        ) from None
    return {role: one for role, one in guesses.items() if one.column}


def _there_are(seen: LookedAt) -> str:
    listed = "".join(f"\n  {one.name!r}: {_examples(one)}" for one in seen.columns.values())
    return f"{seen.path} ({seen.read_as}) has the columns{listed}"


def _examples(column: Column) -> str:
    values = list(dict.fromkeys(column.filled))
    cut = ["".join(filter(str.isprintable, value))[:30] for value in values[:SHOWN]]
    return ", ".join([*cut, "..."] if len(values) > SHOWN else cut)


def _shown(
    file: str, files: Mapping[str, LookedAt], guesses: Mapping[str, Guesses], found: str
) -> list[str]:
    """Return the lines on one file: how it is read, each column with examples, and the counts."""
    seen = files[file]
    lines = [f"{file}: {seen.path} ({seen.read_as})"]
    for role, guess in guesses[file].items():
        others = f"   (or {', '.join(map(repr, guess.others))})" if guess.others else ""
        examples = _examples(seen.columns[guess.column])
        lines.append(f"  {role:<17} {guess.column!r}: {examples}{others}")
    missing = [role for role in ROLES[file] if role.removeprefix("inputs.") not in guesses[file]]
    lines += [f"  {role:<17} none" for role in missing]
    return [*lines, *([f"  {found}"] if found else [])]


def _read_taxonomy(seen: LookedAt, guesses: Guesses) -> tuple[Taxonomy, str]:
    """Read all of it as the stage will, and say what it holds.

    Raises:
        ProposalError: there is nothing to learn from.
    """
    ledger = Ledger()
    params = TaxonomyParams(
        reader="table",
        files={"titles": str(seen.path)},
        columns={role: guess.column for role, guess in guesses.items()},
        delimiter=seen.form.delimiter,
        encoding=seen.form.encoding,
    )
    read = table.read(params, ledger)
    occupations, titles = len(read.titles), sum(map(len, read.titles.values()))
    found = f"{occupations} occupations, {titles} titles{_refused(ledger)}"
    if occupations < 2 or titles == occupations:
        few = "fewer than two occupations" if occupations < 2 else "one title for each occupation"
        raise ProposalError(
            f"{seen.path} has {few}: {found}. A title can be learned only if others of the same "
            "occupation, and of other occupations, stand beside it, one a row."
        )
    return read, found


def _read_inputs(seen: LookedAt, guesses: Guesses, taxonomy: Taxonomy) -> str:
    """Read all of them as the stage will, and say what they hold.

    Raises:
        ProposalError: no row can be used.
    """
    ledger = Ledger()
    params = InputsParams(
        reader="table",
        file=str(seen.path),
        columns={role: guess.column for role, guess in guesses.items()},
        delimiter=seen.form.delimiter,
        encoding=seen.form.encoding,
    )
    frame = read_inputs(params, taxonomy.titles, ledger)
    found = f"{len(frame)} inputs, {frame['occupation_id'].count()} labelled{_refused(ledger)}"
    if frame.is_empty():
        raise ProposalError(f"{seen.path} has no row that can be used: {found}")
    return found


def _refused(ledger: Ledger) -> str:
    """Say what will be refused, and where to allow more."""
    reasons = ledger.reasons()
    said = f"; refused: {reasons}" if reasons else ""
    return said + ledger.likely_cause().rstrip(".")


def main() -> None:
    """Propose a profile for the repository in the working directory, show and write it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name")
    parser.add_argument("--taxonomy", type=Path, required=True)
    parser.add_argument("--inputs", type=Path)
    parser.add_argument("--synonyms", type=Path)
    parser.add_argument("--column", action="append", default=[], metavar="ROLE=COLUMN")
    parser.add_argument("--delimiter", default="")
    parser.add_argument("--encoding", default="")
    parser.add_argument("--force", action="store_true", help="overwrite the profile")
    options = parser.parse_args()
    root = Path.cwd()
    require_name(options.name)
    require_new(root / "profiles" / f"{options.name}.yaml", options.force)
    proposal = propose(
        options.name,
        options.taxonomy,
        options.inputs,
        options.synonyms,
        root=root,
        columns=dict(one.partition("=")[::2] for one in options.column),
        delimiter=options.delimiter,
        encoding=options.encoding,
    )
    path = write(proposal, root, options.force)
    print(*proposal.shown, f"written: {path.relative_to(root)}", sep="\n")


if __name__ == "__main__":
    run(main)
