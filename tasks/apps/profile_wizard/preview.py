"""The files' form and columns, as lines for a terminal."""

from __future__ import annotations

from collections.abc import Mapping

from tasks.apps.profile_wizard.column_inference import ColumnGuess
from tasks.apps.profile_wizard.column_stats import ColumnStats, FileStats
from tasks.pipeline.ingest.taxonomy import Taxonomy

ROLES = {
    "taxonomy": ("occupation_id", "title", "occupation_label", "codes"),
    "inputs": ("raw_title", "inputs.occupation_id"),
    "synonyms": ("term", "synonym"),
}
"""Roles of a column, as people name them; both files have a column of occupations."""
VALUES, CHARACTERS = 3, 30


def preview(
    file: str, files: Mapping[str, FileStats], guesses: Mapping[str, Mapping[str, ColumnGuess]]
) -> list[str]:
    """Return the lines on one file: how it is read, and each column with examples."""
    seen, chosen = files[file], guesses[file]
    lines = [f"{file}: {seen.path} ({seen.read_as})"]
    if not chosen:
        return [*lines, "  one title a line, no header"]
    for role in ROLES[file]:
        guess = chosen.get(role.removeprefix("inputs."))
        if guess is None:
            lines.append(f"  {role:<20} none")
            continue
        others = f"   (or {', '.join(map(repr, guess.others))}?)" if guess.others else ""
        lines.append(
            f"  {role:<20} {guess.column!r}: {examples(seen.columns[guess.column])}{others}"
        )
    return lines


def counts(taxonomy: Taxonomy) -> str:
    """Return the line on what a taxonomy holds."""
    titles = sum(map(len, taxonomy.titles.values()))
    return f"  {len(taxonomy.titles)} occupations, {titles} titles, labels among them"


def by_label(
    files: Mapping[str, FileStats],
    guesses: Mapping[str, Mapping[str, ColumnGuess]],
    taxonomy: Taxonomy,
) -> list[str]:
    """Return a line if inputs are labelled not with ids but with the occupations' labels."""
    label = guesses["taxonomy"].get("occupation_label")
    if label is None or "occupation_id" in guesses["inputs"]:
        return []
    labels = {taxonomy.label(occupation) for occupation in taxonomy.titles}
    return [
        f"  {one.name!r} names occupations by their label: with --column "
        f"'occupation_id={label.column}' the label is the id, and these inputs are labelled"
        for one in files["inputs"].columns.values()
        if one.share(labels.__contains__) >= 0.5
    ]


def the_columns(seen: FileStats) -> str:
    """Return the columns of a file with examples, for a message."""
    listed = "".join(f"\n  {one.name!r}: {examples(one)}" for one in seen.columns.values())
    return f"{seen.path} ({seen.read_as}) has the columns{listed}"


def examples(column: ColumnStats) -> str:
    """Return the first distinct values, cut."""
    values = list(dict.fromkeys(column.filled))
    truncated = ["".join(filter(str.isprintable, one))[:CHARACTERS] for one in values[:VALUES]]
    return ", ".join([*truncated, "..."] if len(values) > VALUES else truncated)
