"""The files' form and columns, as lines for a terminal."""

from __future__ import annotations

from tasks.apps.profile_wizard.column_stats import ColumnStats, FileStats
from tasks.pipeline.ingest.taxonomy import Taxonomy

ROLES = {
    "taxonomy": ("occupation_id", "title", "occupation_label", "codes", "language"),
    "inputs": ("raw_title", "inputs.occupation_id"),
    "synonyms": ("term", "synonym"),
}
"""Roles of a column, as people name them; both files have a column of occupations."""
VALUES, CHARACTERS = 2, 30
LISTED = 6  # columns with examples in a message of at most ten lines


def preview(role_of_file: str, file: FileStats) -> list[str]:
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
    """Return the columns of a file, the first with examples, for a message."""
    columns = [*file.columns.values()]
    lines = [f"\n  {_described(one)}" for one in columns[:LISTED]]
    names = ", ".join(repr(one.name) for one in columns[LISTED:])
    more = f"\n  and {names}" if names else ""
    return f"{file.path} ({file.read_as}) has the columns{''.join(lines)}{more}"


def _described(column: ColumnStats) -> str:
    """Return the name and the first distinct values, cut."""
    values = list(dict.fromkeys(column.filled))
    truncated = ["".join(filter(str.isprintable, one))[:CHARACTERS] for one in values[:VALUES]]
    examples = ", ".join([*truncated, "..."] if len(values) > VALUES else truncated)
    return f"{column.name!r}: {examples or 'empty'}"
