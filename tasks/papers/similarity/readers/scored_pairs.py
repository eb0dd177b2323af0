"""Rows of two texts and a gold score to one frame, whatever the data set.

A row is taken if both texts hold something and the score is a number of the data set's range; any
other is refused. Texts lose the white space around them and nothing else: case, quotes and
the publisher's own slips stay. Equal pairs are all kept, as the published counts include them.
Scores stay in the publisher's range; nothing is scaled here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import polars as pl

from tasks.io.frames import Schema
from tasks.tables.rejected import RejectedRows, Row, empty
from tasks.tables.source_files import IngestError

SCORED_PAIRS: Schema = {
    "dataset": pl.String,
    "split": pl.String,
    "left": pl.String,
    "right": pl.String,
    "score": pl.Float64,
}
SPLITS = ("train", "valid", "test")
RANGES = {"sick": (1.0, 5.0), "msrp": (0.0, 1.0), "sts": (0.0, 5.0), "simlex": (0.0, 10.0)}
"""Lowest and highest score per publisher; higher is closer in all of them."""
SAMPLE = {"sample_sentences": (0.0, 5.0), "sample_words": (0.0, 5.0)}
"""Lowest and highest score of the data sets of this repository."""
NUMBER = re.compile(r"-?\d+(\.\d+)?")
BAD_SCORE = "score is no number"
OUT_OF_RANGE = "score outside the data set's range"


def scored_pairs(
    rows: Iterable[Row], dataset: str, split: str, rejected: RejectedRows
) -> pl.DataFrame:
    """Make columns of `SCORED_PAIRS`, in the order of the file.

    `rows`: with the values `left`, `right` and `score`; `dataset`: as the frame names it, such as
    `sick` or `sts2012/MSRpar`; `part`: one of `SPLITS`.

    Raises:
        IngestError: the part or the data set is unknown, or no row could be taken.
    """
    if split not in SPLITS:
        raise IngestError(f"{dataset} has no part {split!r}; name it one of {SPLITS}")
    low, high = score_range(dataset)
    taken = []
    for row in rows:
        if reason := fault(row, low, high):
            rejected.refuse(row, reason)
        else:
            taken.append((dataset, split, row["left"], row["right"], float(row["score"])))
    if not taken:
        raise IngestError(
            f"{dataset}, part {split}: no scored pair in the file, rows refused so far: "
            f"{rejected.reasons()}; check that it is the file as published, scores included"
        )
    return pl.DataFrame(taken, schema=SCORED_PAIRS, orient="row")


def score_range(dataset: str) -> tuple[float, float]:
    """Return the lowest and highest score of a data set; those of all STS years are the same.

    Raises:
        IngestError: it is neither a publisher's nor of the sample.
    """
    name = "sts" if re.fullmatch(r"sts\d{4}/.+", dataset) else dataset
    if name not in RANGES | SAMPLE:
        raise IngestError(f"no range of scores is known for {dataset!r}, only for {[*RANGES]}")
    return (RANGES | SAMPLE)[name]


def fault(row: Row, low: float, high: float) -> str:
    """Name the reason to refuse a row; empty if there is none."""
    for name in ("left", "right", "score"):
        if not row[name]:
            return empty(name)
    if not NUMBER.fullmatch(row["score"]):
        return BAD_SCORE
    return "" if low <= float(row["score"]) <= high else OUT_OF_RANGE
