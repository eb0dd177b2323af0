"""The files read as the stage `ingest` will: their content, and rows that it would refuse."""

from __future__ import annotations

import polars as pl

from tasks.apps.profile_wizard.column_stats import FileStats
from tasks.pipeline.ingest.inputs import read_inputs
from tasks.pipeline.ingest.params import InputsParams, TaxonomyParams
from tasks.pipeline.ingest.taxonomies import table
from tasks.pipeline.ingest.taxonomy import Taxonomy
from tasks.tables.rejected import RejectedRows


class DraftError(ValueError):
    """No profile can be drafted, or written; the message says what to change or to add."""


def name_of(number: int) -> str:
    """Return the name of a taxonomy's first, second, ... file in `ingest.taxonomy.files`."""
    return "titles" if number == 1 else f"titles_{number}"


def read_taxonomy(file: FileStats, rejected_rows: RejectedRows) -> Taxonomy:
    """Read all of it; DraftError if there is nothing to tell apart, or to learn from."""
    files = {name_of(number): str(path) for number, path in enumerate(file.paths, 1)}
    taxonomy = table.read(
        TaxonomyParams(reader="table", files=files, languages=[], **file.settings), rejected_rows
    )
    occupations, titles = len(taxonomy.titles), sum(map(len, taxonomy.titles.values()))
    if occupations < 2 or titles == occupations:
        few = "fewer than two occupations" if occupations < 2 else "one title for each occupation"
        raise DraftError(
            f"{file.path} has {few}{_refused(rejected_rows)}. A title can be learned only if "
            "others of the same occupation, and of other occupations, stand beside it, one a row, "
            "or in columns that you name: --column title=FIRST --column title=SECOND"
        )
    return taxonomy


def read_raw_titles(
    file: FileStats, taxonomy: Taxonomy, rejected_rows: RejectedRows
) -> pl.DataFrame:
    """Read all of them, schema `INPUTS`; DraftError if no row can be used."""
    params = InputsParams(
        reader="table" if file.choices else "lines", file=[*map(str, file.paths)], **file.settings
    )
    frame = read_inputs(params, taxonomy.titles, rejected_rows)
    if frame.is_empty():
        raise DraftError(f"{file.path} has no row that can be used{_refused(rejected_rows)}")
    return frame


def _refused(rejected_rows: RejectedRows) -> str:
    reasons = rejected_rows.reasons()
    return (f"; refused: {reasons}" if reasons else "") + rejected_rows.likely_cause().rstrip(".")
