"""The files' form and columns, as lines for a terminal."""

from __future__ import annotations

from tasks.apps.profile_wizard.column_stats import ColumnStats, FileStats
from tasks.pipeline.ingest.taxonomy import Taxonomy

ROLES = {
    "taxonomy": ("occupation_id", "title", "occupation_label", "codes"),
    "inputs": ("raw_title", "inputs.occupation_id"),
    "synonyms": ("term", "synonym"),
}
"""Roles of a column, as people name them; both files have a column of occupations."""
VALUES, CHARACTERS = 3, 30


def preview(role_of_file: str, file: FileStats) -> list[str]:
    """Return the lines on one file: how it is read, and each column with examples."""
    lines = [f"{role_of_file}: {file.path} ({file.read_as})"]
    if not file.choices:
        return [*lines, "  one title a line, no header"]
    for role in ROLES[role_of_file]:
        column, *others = file.choices.get(role.removeprefix("inputs."), [""])
        line = f"{column!r}: {_examples(file.columns[column])}" if column else "none"
        line += f"   (or {', '.join(map(repr, others))}?)" if others else ""
        lines.append(f"  {role:<20} {line}")
    return lines


def by_label(taxonomy_file: FileStats, inputs_file: FileStats, taxonomy: Taxonomy) -> list[str]:
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


def the_columns(file: FileStats) -> str:
    """Return the columns of a file with examples, for a message."""
    listed = "".join(f"\n  {one.name!r}: {_examples(one)}" for one in file.columns.values())
    return f"{file.path} ({file.read_as}) has the columns{listed}"


def _examples(column: ColumnStats) -> str:
    """Return the first distinct values, cut."""
    values = list(dict.fromkeys(column.filled))
    truncated = ["".join(filter(str.isprintable, one))[:CHARACTERS] for one in values[:VALUES]]
    return ", ".join([*truncated, "..."] if len(values) > VALUES else truncated)
