"""Similar pairs drawn from titles and from variants of them, each with its dissimilar ones."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl
import pyarrow as pa

from tasks.pipeline.pairs.pair_blocks import block, block_size
from tasks.pipeline.pairs.params import PairsParams
from tasks.pipeline.pairs.string_occupations import StringOccupations
from tasks.pipeline.pairs.strings_table import ALIAS, AUXILIARY, NOISY, ids_by_title


def base_pairs(
    strings: pl.DataFrame,
    params: PairsParams,
    rng: np.random.Generator,
    languages: pl.DataFrame | None = None,
) -> Iterator[pa.Table]:
    """Yield each title `positives_per_anchor` times with another title of its occupation.

    The aliases come first, then the auxiliary taxonomy's titles and noisy copies, with each other.
    `languages` has the columns `title, language` of the aliases.

    Raises:
        ValueError: no occupation has two titles, or all titles share one occupation.
    """
    size = block_size(params)
    groups = [(ALIAS,), (AUXILIARY, NOISY)] if AUXILIARY in strings["role"] else [(ALIAS,)]
    for roles in groups:
        members = members_of(strings, *roles, languages=languages)
        rows = np.flatnonzero(members.size > 1)
        if not rows.size:
            raise ValueError("no similar pair can be made: every occupation has a single title")
        total = rows.size * params.positives_per_anchor
        for start in range(0, total, size):
            entry = rows[np.arange(start, min(start + size, total)) % rows.size]
            anchors, others = members.string[entry], members.others_of(entry, rng)
            if params.across_languages < 1:
                own = members.others_in_language(entry, rng)
                kept = (own < 0) | (rng.random(entry.size) < params.across_languages)
                others = np.where(kept, others, own)
            repeated = np.repeat(anchors, params.dissimilar_per_similar)
            yield block((anchors, others), repeated, "base", members, rng)


def variant_pairs(
    strings: pl.DataFrame,
    variants: pl.DataFrame,
    source: str,
    similar: int,
    params: PairsParams,
    rng: np.random.Generator,
    languages: pl.DataFrame | None = None,
) -> Iterator[pa.Table]:
    """Yield `similar` pairs of a title and a variant of it or its like, with their dissimilar ones.

    `strings` (schema `STRINGS`) has the rows of role `source`; without `variants` (schema
    `VARIANTS`) there are no pairs. `languages` as in `base_pairs`.
    """
    members = members_of(strings, ALIAS, languages=languages)
    ids = {role: ids_by_title(strings, role) for role in ("alias", source)}
    anchors = np.array([ids["alias"][title] for title in variants["title"]], np.int64)
    others = np.array([ids[source][variant] for variant in variants["variant"]], np.int64)
    left = similar if anchors.size else 0
    while left:
        size = min(left, block_size(params))
        drawn = rng.integers(0, anchors.size, size)
        titles = anchors[drawn]
        if params.variant_positive == "occupation":
            titles = members.drawn_beside(titles, rng, params.across_languages)
        repeated = np.repeat(titles, params.dissimilar_per_similar)
        yield block((titles, others[drawn]), repeated, source, members, rng)
        left -= size


def new_pairs(similar_before: int, share: float) -> int:
    """Tell how many similar pairs make `share` of all similar ones, these counted.

    n = p · (before + n), so n = p · before / (1 - p).
    """
    return round(share * similar_before / (1 - share))


def members_of(
    strings: pl.DataFrame, *roles: str, languages: pl.DataFrame | None = None
) -> StringOccupations:
    """Of the strings of some roles whose occupation is known.

    `languages` has the columns `title, language`; other strings have none.
    """
    has_occupation = pl.col("occupation_ids").list.len() > 0
    rows = strings.filter(pl.col("role").is_in(roles) & has_occupation)
    if languages is not None:
        known = languages.select("title", "language")
        rows = rows.join(known, on="title", how="left", maintain_order="left", validate="m:1")
        rows = rows.with_columns(pl.col("language").fill_null(""))
    return StringOccupations(
        rows["string_id"].to_numpy().astype(np.int64),
        rows["occupation_ids"],
        rows["language"] if languages is not None else None,
    )
