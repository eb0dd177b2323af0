"""What people say of predictions: tables (CSV or Parquet) with the columns of `FEEDBACK`.

People's files stand in one folder, and add up with the file that the stage `score` writes.
Needed are `raw_title`, `predicted_occupation_id`, `matched_title` and `verdict` (`right` or
`wrong`); the others may be absent, as a column or in a row. A row that cannot be used is refused
with file, line and reason. Two things are mended and counted instead, because the verdict itself
stays good:

- a corrected occupation that the taxonomy does not have is dropped beside `wrong`;
- a matched title that is none of the predicted occupation's titles in the index (an older
  taxonomy's, a held-out one, or none) gives way to the occupation's label.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from models.text.titles import clean_title, normalize_title
from tasks.files.schemas import FEEDBACK, OPINIONS
from tasks.readers.outside import IngestError, mapped_columns, shown
from tasks.readers.rejected import UNKNOWN_OCCUPATION, Ledger, Row, empty
from tasks.readers.rows import table_header, table_rows

if TYPE_CHECKING:
    from tasks.feedback import FeedbackParams

OWN = Path("data/score/feedback.csv")
OWN_ORIGIN = "Run `dvc repro feedback`: its stage `score` writes it."
ORIGIN = (
    "It lies in the folder that feedback.folder names: correct it or feedback.columns, or take it "
    "out of the folder."
)
KINDS = (".csv", ".tsv", ".parquet")
REQUIRED = ("raw_title", "predicted_occupation_id", "matched_title", "verdict")
OPTIONAL = ("model_version", "corrected_occupation_id", "reviewer_id", "judged_at")
BAD_VERDICT = "verdict is neither right nor wrong"
BAD_DATE = "judged_at is no ISO date or time"
RIGHT_YET_CORRECTED = "right, yet corrected to another occupation"
WRONG_YET_CONFIRMED = "wrong, yet corrected to the predicted occupation"
MENDED = ("unknown_correction", "matched_title_replaced")


class Feedback(NamedTuple):
    """The rows that were taken, and how often each of `MENDED` was needed."""

    frame: pl.DataFrame
    mended: dict[str, int]


class Titles(NamedTuple):
    """Per occupation: its label, and its titles in the index; all of them cleaned."""

    labels: dict[str, str]
    owned: set[tuple[str, str]]

    @classmethod
    def of(cls, aliases: pl.DataFrame) -> Titles:
        """Read schema `SPLIT_ALIASES`; the index holds the split `train`, every label among it."""
        labels = aliases.filter("preferred").select("occupation_id", "cleaned")
        owned = aliases.filter(pl.col("split") == "train").select("occupation_id", "cleaned")
        return cls(dict(labels.iter_rows()), set(owned.iter_rows()))


def files(folder: Path) -> list[Path]:
    """Return people's files in the order of their names; other files are none of ours.

    Raises:
        IngestError: there is no such folder.
    """
    if not folder.is_dir():
        raise IngestError(
            f"{folder} is no folder; feedback.folder names the one that holds people's files, "
            "which may be empty"
        )
    tables = (path for path in folder.iterdir() if path.suffix.lower() in KINDS)
    return sorted(path for path in tables if path.is_file() and not path.name.startswith("."))


def read_feedback(params: FeedbackParams, aliases: pl.DataFrame, ledger: Ledger) -> Feedback:
    """Read all files' rows in order, `matched_title` cleaned and `judged_at` as `moment` says.

    Args:
        params: section `feedback`; its `columns` are those of people's files.
        aliases: schema `SPLIT_ALIASES`.
        ledger: takes the refused rows.

    Raises:
        IngestError: a file or a column is missing, or `feedback.columns` does not fit.
    """
    titles = Titles.of(aliases)
    mended: Counter[str] = Counter()
    taken: list[list[str | bool | None]] = []
    tables = [(path, params.columns, ORIGIN) for path in files(Path(params.folder))]
    tables += [(OWN, {}, OWN_ORIGIN)] * params.own
    for path, columns, origin in tables:
        ledger.rows[shown(path)] += 0  # a file without rows is told of, too
        for row in table_rows(path, _columns(path, columns, origin), origin, ledger):
            values = {name: row[name] if name in row.values else "" for name in FEEDBACK}
            values["verdict"] = values["verdict"].casefold()
            if reason := _fault(values, titles):
                ledger.refuse(row, reason)
            else:
                taken.append([*_mend(values, row, titles, mended), origin == OWN_ORIGIN])
    frame = pl.DataFrame(taken, schema=dict(OPINIONS), orient="row")
    return Feedback(frame, {name: mended[name] for name in MENDED})


def moment(judged_at: str) -> str:
    """Write an ISO 8601 date or time as text of one width in UTC, so that later is greater.

    A date is its midnight; a time without zone is taken as UTC.

    Raises:
        ValueError: it is none, or lies outside the years 1 to 9999 in UTC.
    """
    try:
        parsed = datetime.fromisoformat(judged_at)
        utc = parsed.astimezone(UTC) if parsed.tzinfo else parsed
    except OverflowError as error:
        raise ValueError(str(error)) from None
    return utc.replace(tzinfo=None).isoformat(timespec="microseconds")


def _columns(path: Path, mapped: Mapping[str, str], origin: str) -> dict[str, str]:
    """Map our name to the file's column, by `mapped` or by its own name if the file has it."""
    columns = {name: name for name in REQUIRED} | dict(mapped)
    header = table_header(path, [columns[name] for name in REQUIRED], origin)
    columns |= {name: name for name in OPTIONAL if name in header and name not in columns}
    return mapped_columns(columns, "feedback.columns", REQUIRED, OPTIONAL)


def _fault(values: Mapping[str, str], titles: Titles) -> str:
    """Name the reason to refuse a row; empty if there is none."""
    predicted, corrected = values["predicted_occupation_id"], values["corrected_occupation_id"]
    if not normalize_title(values["raw_title"]):  # signs alone are no title either
        return empty("raw_title")
    if values["verdict"] not in ("right", "wrong"):
        return BAD_VERDICT
    if predicted not in titles.labels:
        return UNKNOWN_OCCUPATION
    if corrected and values["verdict"] == "right" and corrected != predicted:
        return RIGHT_YET_CORRECTED
    if values["verdict"] == "wrong" and corrected == predicted:
        return WRONG_YET_CONFIRMED
    try:
        moment(values["judged_at"] or "2000-01-01")
    except ValueError:
        return BAD_DATE
    return ""


def _mend(
    values: dict[str, str], row: Row, titles: Titles, mended: Counter[str]
) -> list[str | None]:
    predicted, corrected = values["predicted_occupation_id"], values["corrected_occupation_id"]
    if corrected and corrected not in titles.labels:
        mended["unknown_correction"] += 1
    matched = clean_title(values["matched_title"])
    if (predicted, matched) not in titles.owned:
        mended["matched_title_replaced"] += 1
        matched = titles.labels[predicted]
    keeps = values["verdict"] == "wrong" and corrected in titles.labels
    changed = {
        "raw_title": row.values["raw_title"],
        "matched_title": matched,
        "corrected_occupation_id": corrected if keeps else "",
        "judged_at": moment(values["judged_at"]) if values["judged_at"] else "",
    }
    return [(values | changed)[name] or None for name in FEEDBACK]
