"""The files and chosen columns as text: a profile with comments, and a preview for a terminal."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import yaml

from tasks.apps.profile_wizard.columns import ROLES, Column, Files
from tasks.pipeline.ingest.taxonomy import Taxonomy

VALUES, CHARACTERS = 2, 30
LISTED = 6  # columns with examples in a message of at most ten lines
FEW = 1000
LONGEST = 50  # letters of a name, of up to four bytes each
HEAD = """\
# Profile {name}: inferred by `rolecall init` from the files below. Correct any wrong inference.
# A value here replaces that of params.yaml; `files` and `columns` are replaced whole.

external: # name in data/external -> file; ./ is the root of this repository
{external}
ingest:
  folder: data/external
"""
TAXONOMY = """\
  taxonomy:
    reader: table # one title a row, or several in columns
    files: {file}
    columns: {columns}
    delimiter: {delimiter}
    encoding: {encoding}
"""
INPUTS = """\
  inputs:
    reader: {reader} # table, or lines: one title a line, no header
    file: {file}
    columns: {columns}
    delimiter: {delimiter}
    encoding: {encoding}
"""
NO_INPUTS = """\
  inputs:
    reader: none # no raw titles: nothing is learned of the words around a title
    file: ""
    columns: {}
"""
SYNONYMS = """\

synonyms:
  reader: table # one pair a row
  folder: data/external
  file: {file}
  columns: {columns}
"""
NO_SYNONYMS = """\

synonyms:
  reader: none # those of the sample are English and not yours; induced ones are used anyway
"""
TRAIN = """\

train: # for fewer than {few:,} titles: more steps find nothing to learn
  max_steps: 300
  evaluate_every: 50
"""
TRAIN_FEEDBACK = """\

train_feedback:
  continues: true # from the network without reviews, so few other answers change; false: anew
"""
REGISTER = """\

register:
  name: rolecall-{name} # in the registry
"""


def profile_text(name: str, files: Mapping[str, Files], titles: int, root: Path) -> str:
    """Write the whole profile.

    `files`: `taxonomy`, and if there are any `inputs` and `synonyms`; `titles`: how many the
    taxonomy has; `root`: the main tree; a file within it is named from there.
    """
    names = _external_names(files)
    external = ""
    for path, external_name in names.items():
        is_within = path.is_relative_to(root)
        address = f"./{path.relative_to(root).as_posix()}" if is_within else str(path)
        external += f"  {_quoted(external_name)}: {_quoted(address)}\n"
    text = HEAD.format(name=name, external=external)
    parts = (("taxonomy", TAXONOMY, ""), ("inputs", INPUTS, NO_INPUTS))
    for role, form, without in (*parts, ("synonyms", SYNONYMS, NO_SYNONYMS)):
        if role in files:
            text += form.format(
                file=_files(role, [names[path] for path in files[role].paths]),
                reader="table" if files[role].choices else "lines",
                columns=_columns(files[role], 4 if role == "synonyms" else 6),
                delimiter=_quoted(files[role].form.delimiter),
                encoding=_quoted(files[role].form.encoding),
            )
        else:
            text += without
    text += TRAIN.format(few=FEW) if titles < FEW else ""
    return text + TRAIN_FEEDBACK + REGISTER.format(name=name)


def preview(role_of_file: str, file: Files) -> list[str]:
    """Return the lines on a file: how it is read, and each column with its role and examples."""
    lines = [f"{role_of_file}: {', '.join(map(str, file.paths))} ({file.read_as})"]
    if not file.choices:
        return [*lines, "  one title a line, no header"]
    used = {choice[0] for choice in file.choices.values()} | {*file.more_titles}
    for role in ROLES[role_of_file]:
        columns = file.choices.get(role.removeprefix("inputs."), [""])[:1]
        columns += file.more_titles if role == "title" else ()
        described = "; ".join(_described(file.columns[one]) for one in columns if one)
        lines.append(f"  {role:<20} {described or 'none'}")
    if unused := [_described(one) for name, one in file.columns.items() if name not in used]:
        lines.append(f"  {'not used':<20} {'; '.join(unused)}")
    return lines


def by_label(taxonomy_file: Files, inputs_file: Files, taxonomy: Taxonomy) -> list[str]:
    """Return a line if inputs are labelled not with ids but with the occupations' labels."""
    label = taxonomy_file.choices.get("occupation_label")
    if label is None or "occupation_id" in inputs_file.choices:
        return []
    labels = {taxonomy.label(occupation) for occupation in taxonomy.titles}
    return [
        f"  {one.name!r} names occupations by their label: with --column "
        f"'occupation_id={label[0]}' the label is the id, and these inputs are labelled"
        for one in inputs_file.columns.values()
        if one.share(labels.__contains__) >= 0.5
    ]


def the_columns(file: Files) -> str:
    """Return the columns of a file, the first with examples, for a message."""
    columns = [*file.columns.values()]
    lines = [f"\n  {_described(one)}" for one in columns[:LISTED]]
    names = ", ".join(repr(one.name) for one in columns[LISTED:])
    more = f"\n  and {names}" if names else ""
    return f"{file.paths[0]} ({file.read_as}) has the columns{''.join(lines)}{more}"


def _external_names(files: Mapping[str, Files]) -> dict[Path, str]:
    """Name each file in `data/external`: as it is called, with its role where two are alike.

    Characters that DVC cannot read in a path become `_`, and long names are shortened.
    """
    names: dict[Path, str] = {}
    for role, file in files.items():
        for number, path in enumerate(file.paths, 1):
            taken = {name.casefold() for name in names.values()}
            plain = re.sub(r"[^\w .,;()&+@#='-]", "_", path.stem)[:LONGEST] + path.suffix
            tries = (plain, f"{role}-{plain}", f"{role}-{number}-{plain}")
            free = next(name for name in tries if name.casefold() not in taken)
            names[path] = names.get(path, free)
    return names


def _files(role: str, names: Sequence[str]) -> str:
    """Write a taxonomy's files by their names, and others as one file or a list."""
    quoted = [*map(_quoted, names)]
    if role == "taxonomy":
        further = (f", titles_{number}: {name}" for number, name in enumerate(quoted[1:], 2))
        return f"{{titles: {quoted[0]}{''.join(further)}}}"
    return quoted[0] if len(quoted) == 1 else f"[{', '.join(quoted)}]"


def _columns(file: Files, indent: int) -> str:
    if not file.choices:
        return "{}"
    lines = ""
    for role, (column, *others) in file.choices.items():
        columns = [_quoted(column), *map(_quoted, file.more_titles)]
        several = role == "title" and len(columns) > 1
        lines += f"\n{' ' * indent}{role}: "
        lines += f"[{', '.join(columns)}]" if several else columns[0]
        lines += f" # or {', '.join(map(_quoted, others))}" if others else ""
    return "# our name: the file's column" + lines


def _quoted(text: str) -> str:
    """Write a scalar of YAML on one line, whatever is in it."""
    scalar: str = yaml.safe_dump(text, default_style='"', allow_unicode=True, width=1_000_000)
    return scalar.rstrip("\n")


def _described(column: Column) -> str:
    """Return the name and the first distinct values, cut."""
    values = list(dict.fromkeys(column.filled))
    truncated = ["".join(filter(str.isprintable, one))[:CHARACTERS] for one in values[:VALUES]]
    examples = ", ".join([*truncated, "..."] if len(values) > VALUES else truncated)
    return f"{column.name!r}: {examples or 'empty'}"
