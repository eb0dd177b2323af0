"""A profile as text: the chosen columns, with comments, for people to read and change."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import yaml

from tasks.apps.profile_wizard.column_stats import Choices, FileStats

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
    reader: table # one title a row
    files: {{titles: {file}}}
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
REGISTER = """\

register:
  name: rolecall-{name} # in the registry
"""


def profile_text(name: str, files: Mapping[str, FileStats], titles: int, root: Path) -> str:
    """Write the whole profile.

    `files`: `taxonomy`, and if there are any `inputs` and `synonyms`; `titles`: how many the
    taxonomy has; `root`: the main tree; a file within it is named from there.
    """
    external_names = _external_names({role: file.path for role, file in files.items()})
    external = "".join(
        f"  {_quoted(external_names[role])}: {_quoted(_address(file.path, root))}\n"
        for role, file in files.items()
    )
    text = HEAD.format(name=name, external=external)
    parts = (("taxonomy", TAXONOMY, ""), ("inputs", INPUTS, NO_INPUTS))
    for role, form, without in (*parts, ("synonyms", SYNONYMS, NO_SYNONYMS)):
        if role in files:
            is_synonyms, file = role == "synonyms", external_names[role]
            text += form.format(
                file=_quoted(f"data/external/{file}" if is_synonyms else file),
                reader="table" if files[role].choices else "lines",
                columns=_columns(files[role].choices, 4 if is_synonyms else 6),
                delimiter=_quoted(files[role].form.delimiter),
                encoding=_quoted(files[role].form.encoding),
            )
        else:
            text += without
    text += TRAIN.format(few=FEW) if titles < FEW else ""
    return text + REGISTER.format(name=name)


def _external_names(files: Mapping[str, Path]) -> dict[str, str]:
    """Name each file in `data/external`: as it is called, with its role where two are alike.

    Characters that DVC cannot read in a path become `_`, and long names are shortened.
    """
    names: dict[str, str] = {}
    for role, path in files.items():
        same = [other for other in names if files[other] == path]
        taken = {name.casefold() for name in names.values()}
        plain = re.sub(r"[^\w .,;()&+@#='-]", "_", path.stem)[:LONGEST] + path.suffix
        free = plain if plain.casefold() not in taken else f"{role}-{plain}"
        names[role] = names[same[0]] if same else free
    return names


def _address(path: Path, root: Path) -> str:
    """Return how a profile names a file: from the root of the main tree, or by its whole path."""
    return f"./{path.relative_to(root).as_posix()}" if path.is_relative_to(root) else str(path)


def _columns(choices: Choices, indent: int) -> str:
    if not choices:
        return "{}"
    return "# our name: the file's column" + "".join(
        f"\n{' ' * indent}{role}: {_quoted(column)}"
        + (f" # or {', '.join(map(_quoted, others))}" if others else "")
        for role, (column, *others) in choices.items()
    )


def _quoted(text: str) -> str:
    """Write a scalar of YAML on one line, whatever is in it."""
    scalar: str = yaml.safe_dump(text, default_style='"', allow_unicode=True, width=1_000_000)
    return scalar.rstrip("\n")
