"""From files to a profile: each is read once, and the roles of its columns are inferred.

Its rows then become a taxonomy, or inputs, as in the stage `ingest`, which tests every choice.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import polars as pl

from tasks.apps.profile_wizard.columns import (
    ROLES,
    Choices,
    Column,
    Files,
    Unclear,
    inputs_columns,
    inspect_file,
    synonyms_columns,
    taxonomy_columns,
)
from tasks.apps.profile_wizard.profile_text import by_label, preview, profile_text, the_columns
from tasks.io.section import read_values
from tasks.pipeline.ingest.stage import inputs_of
from tasks.pipeline.ingest.taxonomies.table import taxonomy_of
from tasks.pipeline.ingest.taxonomy import Taxonomy
from tasks.tables.delimited import Format
from tasks.tables.rejected import RejectedRows
from tasks.tables.source_files import SourceFile

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,79}")  # of a model in the registry, and of a folder
SHOWN, WIDEST = 3, 80  # refused rows that are shown, and their characters
Overrides = Mapping[str, Sequence[str]]  # role -> its columns, several of titles; "": none
SEVERAL = "title"  # the only role that several columns may have, one for each language for example
NEEDED = {  # roles without which a file is of no use
    ("taxonomy", "occupation_id"),
    ("taxonomy", "title"),
    ("inputs", "raw_title"),
    ("synonyms", "term"),
    ("synonyms", "synonym"),
}
ADVICE = {  # the end of a message about a role that is unclear
    SEVERAL: "; both together are possible, too",
    "occupation_id": ". Choose the column that has the same value in all rows of an occupation. If "
    "each row is an occupation, add --column title=COLUMN for each column of titles as well",
}


class DraftError(ValueError):
    """No profile can be drafted, or written; the message says what to change or to add."""


class ProfileDraft(NamedTuple):
    """A profile's text, and a preview of the files, as lines for a terminal."""

    text: str
    preview: list[str]


def write_profile(
    root: Path,
    name: str,
    files: Mapping[str, Sequence[Path]],
    columns: Sequence[str],
    *,
    delimiter: str,
    encoding: str,
    force: bool,
) -> None:
    """Draft a profile for the clone in `root`, show it and write it to `profiles/NAME.yaml`.

    `columns` are options ROLE=COLUMN; an existing profile is overwritten by `force`; see `propose`.
    A DraftError says that the name is refused, the profile exists, or none can be drafted.
    """
    if not NAME.fullmatch(name):
        raise DraftError(
            f"{name[:80]!r} is no name of a profile: up to 80 letters (a to z), digits, - and _, "
            "such as 'mine'"
        )
    path = root / "profiles" / f"{name}.yaml"
    if path.exists() and not force:
        raise DraftError(f"{path} exists: choose another name, or --force to overwrite it")
    form = Format(delimiter, encoding)
    draft = propose(name, files, root=root, columns=parse_options(columns), form=form)
    path.write_text(draft.text, encoding="utf-8")
    print(*draft.preview, f"written: {path.relative_to(root)}", sep="\n")


def propose(
    name: str, files: Mapping[str, Sequence[Path]], *, root: Path, columns: Overrides, form: Format
) -> ProfileDraft:
    """Inspect the files and draft a profile.

    `name`: of the profile; the model will be `rolecall-NAME`; `files`: those of `taxonomy`, and if
    there are any of `inputs` (tables of raw titles, some of them labelled, or one a line without a
    header) and of `synonyms`; files of one kind have the same columns; `columns`: one of `ROLES` ->
    a file's columns, in place of the inferred one; empty: none; `form`: a delimiter of all files,
    and an encoding of the files that are no plain UTF-8 or UTF-16. A DraftError says that a column
    is unclear, or the files cannot be learned from; an IngestError that one is missing or no table.
    """
    rejected_rows, read = RejectedRows(), dict[str, Files]()

    def inspect(role: str, infer: Callable[..., Choices]) -> Files:
        paths = [path.resolve() for path in files[role]]
        file = _joined([inspect_file(path, form, rejected_rows) for path in paths])
        overrides = {
            one.removeprefix("inputs."): columns[one] for one in ROLES[role] if one in columns
        }
        read[role] = _chosen(role, file, overrides, infer)
        return read[role]

    taxonomy = _taxonomy(inspect("taxonomy", taxonomy_columns), rejected_rows)
    titles = sum(map(len, taxonomy.titles.values()))
    lines = preview("taxonomy", read["taxonomy"])
    lines += [f"  {len(taxonomy.titles)} occupations, {titles} titles, labels among them"]
    if files.get("inputs"):
        infer = partial(inputs_columns, occupation_ids=taxonomy.titles)
        frame = _inputs(inspect("inputs", infer), taxonomy, rejected_rows)
        lines += preview("inputs", read["inputs"])
        lines += [f"  {len(frame)} inputs, {frame['occupation_id'].count()} labelled"]
        lines += by_label(read["taxonomy"], read["inputs"], taxonomy)
    if files.get("synonyms"):
        lines += preview("synonyms", inspect("synonyms", synonyms_columns))
    lines += _refused_rows(rejected_rows)
    max_rejected_share = read_values(root / "params.yaml")["ingest"]["max_rejected_share"]
    errors, rows = rejected_rows.errors, rejected_rows.rows.total()
    if errors > max_rejected_share * rows:  # the stage `ingest` would end
        lines.append(
            f"warning: {errors} of {rows} rows are at fault, more than ingest.max_rejected_share = "
            f"{max_rejected_share:g}: repair the files, or raise it in the profile"
        )
    return ProfileDraft(profile_text(name, read, titles, root.resolve()), lines)


def parse_options(options: Sequence[str]) -> dict[str, list[str]]:
    """Collect the columns of each role, in the order of the options; DraftError if one is wrong."""
    allowed = [role for roles in ROLES.values() for role in roles]
    columns: dict[str, list[str]] = {}
    for option in options:
        role, _, column = option.partition("=")
        if role not in allowed:
            raise DraftError(f"--column {role}=...: choose {', '.join(allowed)}")
        columns.setdefault(role, []).append(column)
        if len(columns[role]) > 1 and role != SEVERAL:
            given = _in_words(role, columns[role])
            raise DraftError(f"{given}: only {SEVERAL} has several columns")
    return columns


def _joined(files: Sequence[Files]) -> Files:
    """Return the columns that all files have, with the values of all.

    Files of a single column, which need not have a header, are joined whatever its name. A
    delimiter or an encoding in which the files differ is left to be detected in each. A DraftError
    says that the files have no column in common.
    """
    first = files[0]
    single = all(len(file.columns) == 1 for file in files)
    shared = [name for name in first.columns if all(name in one.columns for one in files)]
    if not single and not shared:
        names = "; ".join(f"{file.paths[0].name}: {', '.join(file.columns)}" for file in files)
        raise DraftError(f"files of one option have the same columns, these have none: {names}")
    columns = {}
    for name in first.columns if single else shared:
        parts = (one.columns.get(name) or next(iter(one.columns.values())) for one in files)
        columns[name] = Column(name, [value for part in parts for value in part.values])
    settings = [{own.form.delimiter for own in files}, {own.form.encoding for own in files}]
    delimiter, encoding = (some.pop() if len(some) == 1 else "" for some in settings)
    return Files(
        [path for file in files for path in file.paths],
        Format(delimiter, encoding),
        " / ".join(dict.fromkeys(file.read_as for file in files)),
        columns,
        {path: table for file in files for path, table in file.tables.items()},
    )


def _chosen(
    role_of_file: str, file: Files, overrides: Overrides, infer: Callable[..., Choices]
) -> Files:
    """Choose the columns of one file; overrides that are empty leave theirs out."""
    for role, names in overrides.items():
        for column in names:
            if column not in file.columns and (column or (role_of_file, role) in NEEDED):
                raise DraftError(f"{_in_words(role, [column])}: {the_columns(file)}")
    more_titles = tuple(overrides.get(SEVERAL, ()))[1:]
    columns = {name: one for name, one in file.columns.items() if name not in more_titles}
    try:
        choices = infer(columns, {role: names[0] for role, names in overrides.items()})
    except Unclear as unclear:
        options = _in_words(unclear.role, unclear.columns or ["COLUMN"], " or ")
        advice = ADVICE.get(unclear.role, "")
        raise DraftError(f"{unclear}. Add {options}{advice}.\n{the_columns(file)}") from None
    if not choices and not SourceFile.at(file.paths[0], "").is_delimited:
        choices = {"raw_title": list(columns)}  # its only column has a name for sure
    chosen = {role: choice for role, choice in choices.items() if choice[0]}
    return replace(file, choices=chosen, more_titles=more_titles)


def _taxonomy(file: Files, rejected_rows: RejectedRows) -> Taxonomy:
    """Return what the rows hold; DraftError if nothing can be told apart, or learned."""
    titles = ["title", *(f"title_{number}" for number, _ in enumerate(file.more_titles, 2))]
    taxonomy = taxonomy_of(file.rows, titles, rejected_rows)
    occupations, count = len(taxonomy.titles), sum(map(len, taxonomy.titles.values()))
    if occupations < 2 or count == occupations:
        few = "fewer than two occupations" if occupations < 2 else "one title for each occupation"
        raise DraftError(
            f"{file.paths[0]} has {few}{_reasons(rejected_rows)}. A title can be learned only if "
            "others of the same occupation, and of other occupations, stand beside it, one a row, "
            "or in columns that you name: --column title=FIRST --column title=SECOND"
        )
    return taxonomy


def _inputs(file: Files, taxonomy: Taxonomy, rejected_rows: RejectedRows) -> pl.DataFrame:
    """Return the rows, schema `INPUTS`; DraftError if none can be used."""
    frame = inputs_of(file.rows(rejected_rows), taxonomy.titles, rejected_rows)
    if frame.is_empty():
        raise DraftError(f"{file.paths[0]} has no row that can be used{_reasons(rejected_rows)}")
    return frame


def _reasons(rejected_rows: RejectedRows) -> str:
    reasons = rejected_rows.reasons()
    return (f"; refused: {reasons}" if reasons else "") + rejected_rows.likely_cause().rstrip(".")


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


def _in_words(role: str, columns: Sequence[str], between: str = " ") -> str:
    """Write the options as a user types them."""
    return between.join(f"--column {shlex.quote(f'{role}={column}')}" for column in columns)
