"""Feedback files: tables of any kind with the columns of `FEEDBACK`.

People's files stand in one folder, beside the file of the stage `simulate_feedback`. `REQUIRED`
columns must be there, others may be absent, as a column or in a row. Files are read in chunks.
`feedback_rows/cells.py` reads the cells, `faults.py` names why a row is refused, and `repairs.py`
repairs and counts what leaves the verdict valid.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

import polars as pl

from tasks.io.regular_files import boundary, file_fault
from tasks.io.schemas import FEEDBACK_ROWS, REJECTED
from tasks.pipeline.feedback.feedback_rows.cells import read_cells
from tasks.pipeline.feedback.feedback_rows.dates import UNKNOWN, has_slashes, slash_order
from tasks.pipeline.feedback.feedback_rows.faults import fault
from tasks.pipeline.feedback.feedback_rows.occupation_ids import OccupationIds
from tasks.pipeline.feedback.feedback_rows.repairs import REPAIRS, repair
from tasks.pipeline.feedback.params import FeedbackParams
from tasks.tables.read_table import read_header, read_table
from tasks.tables.rejected import RejectedRows
from tasks.tables.source_files import IngestError, display_path, is_table, mapped_columns

OWN = Path("data/simulate_feedback/feedback.csv")
OWN_ORIGIN = "Run `dvc repro feedback`: its stage `simulate_feedback` writes it."
ORIGIN = (
    "It lies in the folder that feedback.folder names: correct it or feedback.columns, or take it "
    "out of the folder."
)
NAMED = 3  # rows of a warning
REQUIRED = ("raw_title", "predicted_occupation_id", "matched_title", "verdict")
OPTIONAL = (
    "model_version",
    "corrected_occupation_id",
    "reviewer_id",
    "judged_at",
    "chosen_by",
    "served",
)


def files(folder: Path) -> list[Path]:
    """Return people's files in the order of their names; other files are none of ours.

    One that must not be opened is named and left out, as DVC leaves it out.

    Raises:
        IngestError: there is no such folder.
    """
    if not folder.is_dir():
        raise IngestError(
            f"{folder} is no folder; feedback.folder names the one that holds people's files, "
            "which may be empty"
        )
    visible = sorted(path for path in folder.iterdir() if is_table(path.name))
    faults = {path: file_fault(path, boundary(folder)) for path in visible if not path.is_dir()}
    for text in filter(None, faults.values()):
        print(f"warning: {text}: not read")
    return [path for path, text in faults.items() if not text]


def read_feedback(
    params: FeedbackParams, aliases: pl.DataFrame, rejected: RejectedRows
) -> tuple[pl.DataFrame, dict[str, int]]:
    """Return the usable rows of all files in order, and how often each of `REPAIRS` was needed.

    `aliases` has schema `SPLIT_ALIASES`; the rows have `FEEDBACK_ROWS`.

    Raises:
        IngestError: a file or a column is missing, or `feedback.columns` does not fit.
    """
    occupations = OccupationIds.of(aliases)
    repairs = Counter(dict.fromkeys(REPAIRS, 0))
    taken = [pl.DataFrame(schema=FEEDBACK_ROWS)]
    tables = [(path, params.columns, ORIGIN) for path in files(Path(params.folder))]
    tables += [(OWN, {}, OWN_ORIGIN)] * params.from_labels
    for path, columns, origin in tables:
        rejected.rows[display_path(path)] += 0  # a file without rows is reported, too
        for rows in _read(path, _columns(path, columns, origin), origin, occupations, rejected):
            frame, counts = repair(rows, occupations)
            repairs.update(counts)
            _warn_of_unknown(rows, display_path(path))
            taken.append(frame.with_columns(from_labels=pl.lit(origin == OWN_ORIGIN)))
    return pl.concat(taken), dict(repairs)


def _warn_of_unknown(rows: pl.DataFrame, file: str) -> None:
    """Name the corrections to an occupation that the taxonomy does not have."""
    unknown = rows.filter(REPAIRS["unknown_correction"]).select("line", "corrected_occupation_id")
    for line, occupation_id in unknown.head(NAMED).iter_rows():
        print(
            f"warning: {file}, line {line}: the taxonomy has no occupation {occupation_id!r}, so "
            "the row counts as incorrect without a correction"
        )
    if len(unknown) > NAMED:
        print(f"warning: {file}: and {len(unknown) - NAMED:,} more such rows")


def _read(
    path: Path,
    columns: Mapping[str, str],
    origin: str,
    occupations: OccupationIds,
    rejected: RejectedRows,
) -> Iterator[pl.DataFrame]:
    """Yield the usable rows of a file (`read_cells`) in chunks, and refuse the others.

    A file with slashes in its dates is read twice.
    """
    order: str | None = None
    absent = [pl.lit("").alias(name) for name in (*REQUIRED, *OPTIONAL) if name not in columns]
    for chunk in read_table(path, columns, origin, rejected):
        if order is None and "judged_at" in columns and has_slashes(chunk.values["judged_at"]):
            dates = read_table(path, {"judged_at": columns["judged_at"]}, origin, RejectedRows())
            order = slash_order(part.values["judged_at"] for part in dates)
        rows = pl.concat([chunk.places, chunk.values.with_columns(absent)], how="horizontal")
        read = read_cells(rows, occupations, order or UNKNOWN)
        judged = read.with_columns(reason=fault(), file=pl.lit(display_path(path)), row="text")
        rejected.rows[display_path(path)] += len(judged)
        rejected.refuse_all(judged.drop_nulls("reason").select(list(REJECTED)))
        yield judged.filter(pl.col("reason").is_null())


def _columns(path: Path, mapped: Mapping[str, str], origin: str) -> dict[str, str]:
    """Map our name to the file's column, by `mapped` or by its own name if the file has it."""
    columns = {name: name for name in REQUIRED} | dict(mapped)
    header = read_header(path, [columns[name] for name in REQUIRED], origin)
    folded = {name.casefold() for name in header}
    columns |= {name: name for name in OPTIONAL if name in folded and name not in columns}
    checked = mapped_columns(columns, "feedback.columns", REQUIRED, OPTIONAL)
    return {ours: _as_written(theirs, header, path, origin) for ours, theirs in checked.items()}


def _as_written(name: str, header: list[str], path: Path, origin: str) -> str:
    """Return a column's name as it stands in the header, in whatever case."""
    alike = [one for one in header if one.casefold() == name.casefold()]
    if name in header or not alike:
        return name
    if len(alike) > 1:
        raise IngestError(f"{path} has the column {name!r} more than once, as {alike}. {origin}")
    return alike[0]
