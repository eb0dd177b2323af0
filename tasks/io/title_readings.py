"""The two readings of a title, made once and kept beside it.

Encoders and matchers see `cleaned`; two titles are the same if they are equal `normalized`.
"""

from __future__ import annotations

from collections.abc import Container

import polars as pl

from models.text.titles import clean_title, normalize_title


def with_readings(frame: pl.DataFrame, column: str = "raw_title") -> pl.DataFrame:
    """Return `frame` with the columns `cleaned` and `normalized` of a column of titles."""
    return frame.with_columns(cleaned=cleaned(frame[column]), normalized=normalized(frame[column]))


def without(frame: pl.DataFrame, strings: Container[str]) -> pl.DataFrame:
    """Return the rows whose column `normalized` is none of `strings`."""
    return frame.filter(
        pl.Series([name not in strings for name in frame["normalized"]], dtype=pl.Boolean)
    )


def cleaned(titles: pl.Series) -> pl.Series:
    """Clean every title, in order."""
    return pl.Series("cleaned", [clean_title(title) for title in titles], pl.String)


def normalized(titles: pl.Series) -> pl.Series:
    """Normalize every title, in order."""
    return pl.Series("normalized", [normalize_title(title) for title in titles], pl.String)
