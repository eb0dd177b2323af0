"""The strings table: `string_id → title, occupation_ids, role`; one row a title and role.

Titles are cleaned, as encoders see them, so that two rows of one role never hold the same string
with different occupations.
"""

from __future__ import annotations

import polars as pl

from tasks.io.schemas import AUXILIARY_TITLES, STRINGS

ALIAS, VALID = "alias", "valid"
AUXILIARY, NOISY = "auxiliary_taxonomy", "noisy_auxiliary"
"""Roles of the mix `base`; further ones are those of sources."""
NO_AUXILIARY = pl.DataFrame(schema=AUXILIARY_TITLES)


def base_strings(
    titles: pl.DataFrame, queries: pl.DataFrame, auxiliary_taxonomy: pl.DataFrame = NO_AUXILIARY
) -> pl.DataFrame:
    """Return the strings of the mix `base` as schema `STRINGS`.

    Titles (schema `TITLES`) of the split `train` get the role `alias`, queries (schema `QUERIES`)
    of the split `valid` the role `valid`, and the auxiliary taxonomy's titles (schema
    `AUXILIARY_TITLES`) a role of their own, as their noisy copies do.
    """
    train = titles.filter(pl.col("split") == "train")
    valid = queries.filter(pl.col("split") == "valid").with_columns(title="cleaned")
    titled, noisy = auxiliary_taxonomy.filter(~pl.col("noisy")), auxiliary_taxonomy.filter("noisy")
    parts = ((train, ALIAS), (valid, VALID), (titled, AUXILIARY), (noisy, NOISY))
    return number(pl.concat([_distinct(rows, role) for rows, role in parts]))


def variant_strings(variants: pl.DataFrame, strings: pl.DataFrame, role: str) -> pl.DataFrame:
    """Return variants (schema `VARIANTS`) as rows of a role, with the occupations of their titles.

    `strings` (schema `STRINGS`) holds every title of `variants` as an alias; `role` is the source's
    name.
    """
    titles = strings.filter(pl.col("role") == "alias").select("title", "occupation_ids")
    named = variants.select("title", "variant").join(
        titles, on="title", maintain_order="left", validate="m:1"
    )
    return _distinct(named.drop("title").rename({"variant": "title"}), role)


def feedback_strings(verdicts: pl.DataFrame, *, corrections: bool) -> pl.DataFrame:
    """Return judged inputs as rows of role `feedback`, with the occupation that people gave.

    `verdicts` has schema `VERDICTS`; `corrections` tells whether this mix knows corrected
    occupations.
    """
    occupation = known_occupation(corrections=corrections)
    named = verdicts.select(title="cleaned", occupation_ids=pl.concat_list(occupation))
    return _distinct(named, "feedback")


def known_occupation(*, corrections: bool) -> pl.Expr:
    """Return the occupation that a row of `VERDICTS` calls correct, or null."""
    confirmed = pl.when("correct").then("predicted_occupation_id")
    return confirmed.otherwise("corrected_occupation_id") if corrections else confirmed


def number(rows: pl.DataFrame) -> pl.DataFrame:
    """Give `string_id` 0, 1, 2 … in the order of the rows."""
    ids = pl.int_range(pl.len(), dtype=pl.UInt32).alias("string_id")
    return rows.with_columns(ids).select(list(STRINGS))


def append(strings: pl.DataFrame, rows: pl.DataFrame) -> pl.DataFrame:
    """Return `strings` with further rows; its own keep their ids."""
    return number(pl.concat([strings.drop("string_id"), rows]))


def ids_by_title(strings: pl.DataFrame, role: str) -> dict[str, int]:
    """Map title to `string_id`, of one role."""
    return dict(strings.filter(pl.col("role") == role).select("title", "string_id").iter_rows())


def _distinct(rows: pl.DataFrame, role: str) -> pl.DataFrame:
    return rows.group_by("title", maintain_order=True).agg(
        pl.col("occupation_ids").explode().drop_nulls().unique().sort(),
        pl.lit(role).first().alias("role"),
    )
