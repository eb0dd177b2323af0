"""The strings table: `string_id → title, occupation_ids, role`; one row a title and role.

Titles are told apart as encoders see them (cleaned), so that two rows of one role never hold the
same string with different occupations.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from models.titles import clean_title
from tasks.schemas import STRINGS


def base_strings(aliases: pl.DataFrame, queries: pl.DataFrame) -> pl.DataFrame:
    """Training aliases and validation queries as schema `STRINGS`.

    Args:
        aliases: schema `SPLIT_ALIASES`.
        queries: schema `QUERIES`; its part `valid` becomes the role of that name.
    """
    train = aliases.filter(pl.col("split") == "train").with_columns(
        occupation_ids=pl.concat_list("occupation_id")
    )
    valid = queries.filter(pl.col("part") == "valid").rename({"raw_title": "title"})
    rows = pl.concat([_distinct(train, "alias"), _distinct(valid, "valid")])
    return number(rows)


def typo_strings(variants: pl.DataFrame, strings: pl.DataFrame) -> pl.DataFrame:
    """Variants as rows of role `typo`, with the occupations of the title that they misspell.

    Args:
        variants: schema `VARIANTS`.
        strings: schema `STRINGS`, which holds every title of `variants` as an alias.
    """
    titles = strings.filter(pl.col("role") == "alias").select(
        pl.col("title").map_elements(clean_title, pl.String), "occupation_ids"
    )
    named = variants.join(titles, on="title", maintain_order="left", validate="m:1")
    return _distinct(named.drop("title").rename({"typo": "title"}), "typo")


def number(rows: pl.DataFrame) -> pl.DataFrame:
    """Give `string_id` 0, 1, 2 … in the order of the rows."""
    ids = pl.int_range(pl.len(), dtype=pl.UInt32).alias("string_id")
    return rows.with_columns(ids).select(list(STRINGS))


def _distinct(rows: pl.DataFrame, role: str) -> pl.DataFrame:
    cleaned = pl.Series("cleaned", [clean_title(title) for title in rows["title"]], pl.String)
    return (
        rows.with_columns(cleaned)
        .group_by("cleaned", maintain_order=True)
        .agg(
            pl.col("title").first(),
            pl.col("occupation_ids").explode().unique().sort(),
            pl.lit(role).first().alias("role"),
        )
        .drop("cleaned")
    )


class Memberships:
    """Which strings belong to which occupations, as arrays for fast drawing.

    Attributes:
        string: string ids, grouped by occupation; a string of two occupations stands twice.
        start, size: of each row's group.
        place: of each row in its group.
        codes: occupation codes of every string [string, most], padded with -1.
    """

    def __init__(self, occupation_ids: pl.Series) -> None:
        flat = pl.DataFrame(
            {"string": pl.int_range(len(occupation_ids), eager=True), "occupation": occupation_ids}
        ).explode("occupation")
        code = flat["occupation"].rank("dense").to_numpy().astype(np.int64) - 1
        string = flat["string"].to_numpy()
        self.codes = _padded(string, code, len(occupation_ids))
        order = np.lexsort((string, code))
        self.string, code = string[order], code[order]
        starts = np.flatnonzero(np.diff(code, prepend=-1))
        sizes = np.diff(starts, append=code.size)
        self.start, self.size = np.repeat(starts, sizes), np.repeat(sizes, sizes)
        self.place = np.arange(code.size) - self.start

    def share_occupation(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """Boolean per pair of string ids."""
        one, other = self.codes[left][:, :, None], self.codes[right][:, None, :]
        shared: np.ndarray = ((one == other) & (one >= 0)).any(axis=(1, 2))
        return shared


def _padded(string: np.ndarray, code: np.ndarray, count: int) -> np.ndarray:
    lengths = np.bincount(string, minlength=count)
    place = np.arange(string.size) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    codes = np.full((count, lengths.max(initial=1)), -1, np.int64)
    codes[string, place] = code
    return codes
