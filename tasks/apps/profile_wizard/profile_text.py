"""A profile as text: the chosen columns, with comments, for people to read and change."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import yaml

from tasks.apps.profile_wizard.column_stats import FileStats
from tasks.apps.profile_wizard.dry_run import name_of

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


def profile_text(name: str, files: Mapping[str, FileStats], titles: int, root: Path) -> str:
    """Write the whole profile.

    `files`: `taxonomy`, and if there are any `inputs` and `synonyms`; `titles`: how many the
    taxonomy has; `root`: the main tree; a file within it is named from there.
    """
    names = _external_names(files)
    external = "".join(
        f"  {_quoted(external_name)}: {_quoted(_address(path, root))}\n"
        for path, external_name in names.items()
    )
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


def _external_names(files: Mapping[str, FileStats]) -> dict[Path, str]:
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
    if role == "taxonomy":
        named = (f"{name_of(number)}: {_quoted(name)}" for number, name in enumerate(names, 1))
        return f"{{{', '.join(named)}}}"
    quoted = [*map(_quoted, names)]
    return quoted[0] if len(quoted) == 1 else f"[{', '.join(quoted)}]"


def _address(path: Path, root: Path) -> str:
    """Return how a profile names a file: from the root of the main tree, or by its whole path."""
    return f"./{path.relative_to(root).as_posix()}" if path.is_relative_to(root) else str(path)


def _columns(file: FileStats, indent: int) -> str:
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
