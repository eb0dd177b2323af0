"""The files read as the stage `ingest` will: their content, and rows that it would refuse."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from tasks.apps.profile_wizard.column_inference import ColumnGuess
from tasks.apps.profile_wizard.column_stats import FileStats
from tasks.pipeline.ingest.inputs import read_inputs
from tasks.pipeline.ingest.params import InputsParams, TaxonomyParams
from tasks.pipeline.ingest.taxonomies import table
from tasks.pipeline.ingest.taxonomy import Taxonomy
from tasks.tables.rejected import NOTICES, RejectedRows


class ProposalError(ValueError):
    """No profile can be proposed, or written; the message says what to change or to add."""


def read_taxonomy(
    seen: FileStats, guesses: Mapping[str, ColumnGuess], rejected_rows: RejectedRows
) -> Taxonomy:
    """Read all of it.

    Raises:
        ProposalError: there is nothing to tell apart, or nothing to learn from.
    """
    params = TaxonomyParams(
        reader="table",
        files={"titles": str(seen.path)},
        columns={role: guess.column for role, guess in guesses.items()},
        delimiter=seen.form.delimiter,
        encoding=seen.form.encoding,
    )
    read = table.read(params, rejected_rows)
    occupations, titles = len(read.titles), sum(map(len, read.titles.values()))
    if occupations < 2 or titles == occupations:
        few = "fewer than two occupations" if occupations < 2 else "one title for each occupation"
        raise ProposalError(
            f"{seen.path} has {few}{refused(rejected_rows)}. A title can be learned only if "
            "others of the same occupation, and of other occupations, stand beside it, one a row."
        )
    return read


def read_raw_titles(
    seen: FileStats,
    guesses: Mapping[str, ColumnGuess],
    taxonomy: Taxonomy,
    rejected_rows: RejectedRows,
) -> pl.DataFrame:
    """Read all of them, schema `INPUTS`.

    Raises:
        ProposalError: no row can be used.
    """
    params = InputsParams(
        reader="table" if guesses else "lines",
        file=str(seen.path),
        columns={role: guess.column for role, guess in guesses.items()},
        delimiter=seen.form.delimiter,
        encoding=seen.form.encoding,
    )
    frame = read_inputs(params, taxonomy.titles, rejected_rows)
    if frame.is_empty():
        raise ProposalError(f"{seen.path} has no row that can be used{refused(rejected_rows)}")
    return frame


def refused(rejected_rows: RejectedRows) -> str:
    """Say what is refused and what the likely cause is; empty if nothing is."""
    reasons = rejected_rows.reasons()
    return (f"; refused: {reasons}" if reasons else "") + rejected_rows.likely_cause().rstrip(".")


def too_many(rejected_rows: RejectedRows, max_rejected_share: float) -> list[str]:
    """Return a line of warning if the stage `ingest` would end for what is refused."""
    errors = sum(
        count for reason, count in rejected_rows.reasons().items() if reason not in NOTICES
    )
    read = rejected_rows.rows.total()
    if errors <= max_rejected_share * read:
        return []
    return [
        f"warning: {errors} of {read} rows are at fault, more than ingest.max_rejected_share = "
        f"{max_rejected_share:g}: repair the files, or raise it in the profile"
    ]
