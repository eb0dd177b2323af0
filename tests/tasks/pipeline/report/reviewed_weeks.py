"""Random titles of three weeks, the last of them from a file without the column `served`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import polars as pl
from frames_of import frame_of
from report_world import embed, searching

from tasks.io.schemas import JUDGED, REVIEWS
from tasks.pipeline.report.report_data import ReportData

DRAWN = [
    ("Dough maker", "a", "a", "2026-01-05", "random", "1" * 12, "answered"),
    ("ward boss", "b", "c", "2026-01-11", "random", "1" * 12, "answered"),
    ("code writer", "b", "b", "2026-01-12", "random", "2" * 12, "abstained"),
    ("lorry man", "d", "d", "2026-01-13", "random", "2" * 12, "answered"),
    ("mixer", "a", "a", "2026-01-14", "random", "2" * 12, "answered"),
    ("old file", "a", "a", "2026-01-26", "random", "2" * 12, None),
    ("dough maker", "c", "a", "2026-01-27", "random", "2" * 12, "answered"),
    ("speaks for many", "b", "a", "2026-01-12", "coverage", "2" * 12, "answered"),
    ("nobody knows", "b", None, "2026-01-12", "random", "2" * 12, "answered"),
    ("without a date", "b", "a", None, "random", "2" * 12, "answered"),
    ("trained anyway", "b", "a", "2026-01-12", "random", "2" * 12, "answered"),
]
"""Raw title, prediction, right occupation, when, chosen by, version, served. The second review of
the dough maker is not the first, and the last four do not count."""
NOW = {"dough maker": "baker 🥖", "ward boss": "nurse", "code writer": "programmer"}
"""The titles that the network takes these for; the lorry man, the mixer and the old file are the
baker, too: the first of these is broken."""
OTHERS = dict.fromkeys(("lorry man", "mixer", "old file"), "baker 🥖")


def weeks_of(change: Callable[..., ReportData], **parts: Any) -> ReportData:
    """The world of the report with these titles; `parts` change it further."""
    known = [
        (raw, predicted, "correct" if predicted == gold else "incorrect", False, gold)
        for raw, predicted, gold, *_ in DRAWN
    ]
    judged = [(*row, row[0] != "trained anyway") for row in known]
    reviews = [
        (raw, predicted, "correct", gold, "ann", day, way, version, served, False)
        for raw, predicted, gold, day, way, version, served in DRAWN
    ]
    meant = NOW | OTHERS
    return change(
        search=searching(lambda titles: embed([meant.get(title, title) for title in titles])),
        judged=frame_of(judged, JUDGED),
        reviews=frame_of(reviews, REVIEWS),
        **parts,
    )


def without_served(data: ReportData, titles: pl.Expr) -> pl.DataFrame:
    """The reviews, as if those of some titles came from files without the column."""
    return data.reviews.with_columns(served=pl.when(~titles).then("served"))
