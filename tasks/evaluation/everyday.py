"""Everyday titles with answers by hand, in halves, such as `data/esco/everyday.csv`.

A title is `clear` (its right occupations stand there), `vague` (at most a broader code is right) or
`none` (it names no job). The half `work` is for the gate, `final` for a figure at the end.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

HALVES = ("work", "final")
COLUMNS = ("raw_title", "language", "kind", "occupation_ids", "split")


def read_everyday(file: Path, half: str) -> pl.DataFrame:
    """Read `raw_title, language, kind, occupation_ids` of a half; ValueError if any is missing."""
    rows = pl.read_csv(file, infer_schema=False)
    if missing := [name for name in COLUMNS if name not in rows.columns]:
        raise ValueError(f"{file}: no column {', '.join(missing)}; it has {rows.columns}")
    rows = rows.filter(split=half)
    if rows.is_empty():
        raise ValueError(f"{file}: no row has {half!r} in its column split")
    ids = pl.col("occupation_ids").fill_null("").str.extract_all(r"\S+")
    return rows.select("raw_title", "language", "kind", ids)
