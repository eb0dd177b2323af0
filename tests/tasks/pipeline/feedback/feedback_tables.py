"""A taxonomy of four occupations, and people's tables about it, as files of any bytes."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import polars as pl
from frames_of import aliases_of

from tasks.io.schemas import FEEDBACK
from tasks.pipeline.feedback.params import FeedbackParams
from tasks.pipeline.feedback.reader import read_feedback
from tasks.tables.rejected import RejectedRows

ALIASES = aliases_of(
    [
        ("cook", "Cook", True, "train"),
        ("cook", "Chef", False, "train"),
        ("cook", "Grill cook", False, "heldout_alias"),
        ("nurse", "Nurse", True, "train"),
        ("0123", "Smith", True, "train"),
        ("1200", "Köchin, Bäckerin", True, "train"),
    ]
)
HEADER = ",".join(FEEDBACK)
GOOD = "fry cook,cook,cook,v1,correct,,ann,2026-01-01"
KNOWN = ["raw_title", "predicted_occupation_id", "matched_title", "verdict"]


class Read(NamedTuple):
    """Schema `FEEDBACK_ROWS`, counts of repairs without zeros, and (line, reason, text) refused."""

    frame: pl.DataFrame
    repairs: dict[str, int]
    refused: list[tuple[int, str, str]]
    rejected: RejectedRows

    def values(self, *columns: str) -> list[tuple[str | None, ...]]:
        return self.frame.select(columns).rows()


def params_for(folder: Path, **columns: str) -> FeedbackParams:
    values = {"reader": "table", "from_labels": False, "max_rejected_share": 0.0, "gate_share": 0.0}
    return FeedbackParams(folder=str(folder), columns=columns, **values)


def read_text(folder: Path, text: str, encoding: str = "utf-8", name: str = "f.csv") -> Read:
    (folder / name).write_bytes(text.encode(encoding))
    return read_folder(folder)


def read_rows(folder: Path, *lines: str, header: str = HEADER) -> Read:
    return read_text(folder, "\n".join([header, *lines, ""]))


def read_folder(folder: Path) -> Read:
    rejected = RejectedRows()
    frame, repairs = read_feedback(params_for(folder), ALIASES, rejected)
    refused = [row[1:] for row in rejected.refused]
    counts = {name: count for name, count in repairs.items() if count}
    return Read(frame, counts, refused, rejected)
