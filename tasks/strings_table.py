"""The strings table: `string_id → title, occupation_ids, role`; one row a title and role.

Titles are told apart as encoders see them (cleaned), so that two rows of one role never hold the
same string with different occupations.
"""

from __future__ import annotations

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


def variant_strings(variants: pl.DataFrame, strings: pl.DataFrame, role: str) -> pl.DataFrame:
    """Variants as rows of the given role, with the occupations of the titles they vary.

    Args:
        variants: at least schema `VARIANTS`, its titles cleaned.
        strings: schema `STRINGS`, which holds every title of `variants` as an alias.
        role: the source's name.
    """
    titles = strings.filter(pl.col("role") == "alias").select(
        pl.col("title").map_elements(clean_title, pl.String), "occupation_ids"
    )
    named = variants.select("title", "variant").join(
        titles, on="title", maintain_order="left", validate="m:1"
    )
    return _distinct(named.drop("title").rename({"variant": "title"}), role)


def feedback_strings(verdicts: pl.DataFrame, *, corrections: bool) -> pl.DataFrame:
    """Judged inputs as rows of role `feedback`, with the occupation that people gave them, if any.

    Args:
        verdicts: schema `VERDICTS`.
        corrections: whether corrected occupations are known to this stage.
    """
    right = pl.when("right").then("predicted_occupation_id")
    known = right.otherwise("corrected_occupation_id") if corrections else right
    named = verdicts.select(
        pl.col("raw_title").alias("title"), occupation_ids=pl.concat_list(known)
    )
    return _distinct(named, "feedback")


def number(rows: pl.DataFrame) -> pl.DataFrame:
    """Give `string_id` 0, 1, 2 … in the order of the rows."""
    ids = pl.int_range(pl.len(), dtype=pl.UInt32).alias("string_id")
    return rows.with_columns(ids).select(list(STRINGS))


def append(strings: pl.DataFrame, rows: pl.DataFrame) -> pl.DataFrame:
    """`strings` with further rows; its own keep their ids."""
    return number(pl.concat([strings.drop("string_id"), rows]))


def ids_by_title(strings: pl.DataFrame, role: str) -> dict[str, int]:
    """Cleaned title to `string_id`, of one role."""
    rows = strings.filter(pl.col("role") == role).select("title", "string_id")
    return {clean_title(title): number for title, number in rows.iter_rows()}


def _distinct(rows: pl.DataFrame, role: str) -> pl.DataFrame:
    cleaned = pl.Series("cleaned", [clean_title(title) for title in rows["title"]], pl.String)
    return (
        rows.with_columns(cleaned)
        .group_by("cleaned", maintain_order=True)
        .agg(
            pl.col("title").first(),
            pl.col("occupation_ids").explode().drop_nulls().unique().sort(),
            pl.lit(role).first().alias("role"),
        )
        .drop("cleaned")
    )
