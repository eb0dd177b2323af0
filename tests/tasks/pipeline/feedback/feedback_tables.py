"""A taxonomy of four occupations, people's tables about it as files of any bytes, and verdicts."""

from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
from frames_of import aliases_of

from models.text.titles import normalize_title
from tasks.io.frames import check
from tasks.io.schemas import FEEDBACK, VERDICTS
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
    """Schema `VERDICTS`, counts of repairs without zeros, and (line, reason, text) refused."""

    frame: pl.DataFrame
    repairs: dict[str, int]
    refused: list[tuple[int, str, str]]
    rejected: RejectedRows

    def values(self, *columns: str) -> list[tuple[str | None, ...]]:
        return self.frame.select(columns).rows()


def read_folder(folder: Path, **columns: str) -> Read:
    rejected = RejectedRows()
    frame, repairs = read_feedback(folder, columns, ALIASES, rejected, from_labels=False)
    assert not check(frame, VERDICTS, "verdicts")["from_labels"].any()
    refused = [row[1:] for row in rejected.refused]
    counts = {name: count for name, count in repairs.items() if count}
    return Read(frame, counts, refused, rejected)


def read_text(folder: Path, text: str, encoding: str = "utf-8") -> Read:
    (folder / "f.csv").write_bytes(text.encode(encoding))
    return read_folder(folder)


def read_rows(folder: Path, *lines: str, header: str = HEADER, **columns: str) -> Read:
    (folder / "f.csv").write_text("\n".join([header, *lines, ""]), encoding="utf-8")
    return read_folder(folder, **columns)


def verdict(
    raw_title: str,
    predicted: str | None,
    verdict: str,
    corrected: str | None = None,
    reviewer: str = "ann",
    at: str | None = "2026-01-01",
    matched: str = "",
    from_labels: bool = False,
    chosen_by: str | None = None,
) -> dict[str, Any]:
    """A row of `VERDICTS`; the predicted occupation's label is matched unless said."""
    row: dict[str, Any] = dict.fromkeys(VERDICTS) | {"raw_title": raw_title, "verdict": verdict}
    row |= {"normalized": normalize_title(raw_title), "matched_title": matched or predicted}
    row |= {"predicted_occupation_id": predicted, "reviewer_id": reviewer, "judged_at": at}
    row |= {"from_labels": from_labels, "chosen_by": chosen_by, "model_version": "v"}
    named = {"correct": predicted, "incorrect": corrected}
    return row | {"occupation_id": named.get(verdict)}


def verdicts_of(*rows: dict[str, Any]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=dict(VERDICTS))
