"""The files read as the stage `ingest` will: what they hold, and what would be refused."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from tasks.ingest import InputsParams, TaxonomyParams
from tasks.proposal.guesses import Guess
from tasks.proposal.looked_at import LookedAt
from tasks.proposal.refusals import ProposalError
from tasks.readers.inputs import read_inputs
from tasks.readers.rejected import NOTICES, RejectedRows
from tasks.readers.taxonomies import table
from tasks.readers.taxonomy import Taxonomy


def read_taxonomy(seen: LookedAt, guesses: Mapping[str, Guess], ledger: RejectedRows) -> Taxonomy:
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
    read = table.read(params, ledger)
    occupations, titles = len(read.titles), sum(map(len, read.titles.values()))
    if occupations < 2 or titles == occupations:
        few = "fewer than two occupations" if occupations < 2 else "one title for each occupation"
        raise ProposalError(
            f"{seen.path} has {few}{refused(ledger)}. A title can be learned only if others of the "
            "same occupation, and of other occupations, stand beside it, one a row."
        )
    return read


def read_raw_titles(
    seen: LookedAt, guesses: Mapping[str, Guess], taxonomy: Taxonomy, ledger: RejectedRows
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
    frame = read_inputs(params, taxonomy.titles, ledger)
    if frame.is_empty():
        raise ProposalError(f"{seen.path} has no row that can be used{refused(ledger)}")
    return frame


def refused(ledger: RejectedRows) -> str:
    """Say what is refused and what the likely cause is; empty if nothing is."""
    reasons = ledger.reasons()
    return (f"; refused: {reasons}" if reasons else "") + ledger.likely_cause().rstrip(".")


def too_many(ledger: RejectedRows, max_rejected_share: float) -> list[str]:
    """Return a line of warning if the stage `ingest` would end for what is refused."""
    errors = sum(count for reason, count in ledger.reasons().items() if reason not in NOTICES)
    read = ledger.rows.total()
    if errors <= max_rejected_share * read:
        return []
    return [
        f"warning: {errors} of {read} rows are at fault, more than ingest.max_rejected_share = "
        f"{max_rejected_share:g}: mend the files, or raise it in the profile"
    ]
