"""SICK's entailment judgement as a score: 0 contradicts, 0.5 says nothing, 1 follows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import polars as pl

from tasks.readers.records import BARE_TABS
from tasks.readers.rejected import RejectedRows, Row
from tasks.readers.tables import read_rows
from tasks.scored.readers import sick
from tasks.scored.readers.scored_pairs import scored_pairs

SCORES = {"CONTRADICTION": "1", "NEUTRAL": "3", "ENTAILMENT": "5"}
"""In the range of the data set's other score, so that both are brought to [0, 1] alike."""
COLUMNS = sick.COLUMNS | {"score": "entailment_judgment"}
BAD_JUDGEMENT = "entailment_judgment is none of its three"


def read_entailment(files: Mapping[str, Path], ledger: RejectedRows) -> pl.DataFrame:
    """Read columns of `SCORED_PAIRS`, data set `sick`, as `sick.read_sick` does.

    Args:
        files: part -> file.
        ledger: takes the refused rows.

    Raises:
        IngestError: as of `sick.read_sick`.
    """
    frames = []
    for part, path in files.items():
        rows = read_rows(path, COLUMNS, sick.ORIGIN, ledger, BARE_TABS)
        frames.append(scored_pairs(_as_scores(rows, ledger), "sick", part, ledger))
    return pl.concat(frames)


def _as_scores(rows: Iterable[Row], ledger: RejectedRows) -> Iterator[Row]:
    for row in rows:
        if row["score"] in SCORES:
            yield Row(row.file, row.line, row.text, row.values | {"score": SCORES[row["score"]]})
        else:
            ledger.refuse(row, BAD_JUDGEMENT)
