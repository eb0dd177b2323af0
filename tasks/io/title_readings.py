"""The two readings of the titles of a frame, made once where a title comes in and kept beside it.

`cleaned` is what encoders and matchers see, `normalized` what decides whether two titles are the
same (`models/text/titles.py`).
"""

from __future__ import annotations

import polars as pl

from models.text.titles import clean_title, normalize_title


def with_readings(frame: pl.DataFrame, column: str = "raw_title") -> pl.DataFrame:
    """Return `frame` with the columns `cleaned` and `normalized` of a column of titles."""
    return frame.with_columns(cleaned=cleaned(frame[column]), normalized=normalized(frame[column]))


def cleaned(titles: pl.Series) -> pl.Series:
    """Clean every title, in order."""
    return pl.Series("cleaned", [clean_title(title) for title in titles], pl.String)


def normalized(titles: pl.Series) -> pl.Series:
    """Normalize every title, in order."""
    return pl.Series("normalized", [normalize_title(title) for title in titles], pl.String)
