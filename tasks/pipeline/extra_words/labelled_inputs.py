"""Labelled inputs as variants of the titles of their occupation: how people write them."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import polars as pl

from tasks.io.title_readings import without


def labelled_inputs(
    inputs: pl.DataFrame,
    titles: pl.DataFrame,
    taken: Collection[str],
    copies: int,
    rng: np.random.Generator,
) -> pl.DataFrame:
    """Return schema `VARIANTS`: each labelled input beside `copies` titles of its occupation.

    Titles are drawn with replacement, and none that another occupation has as well. No input may
    equal a normalized string of `taken`.

    `inputs`: schema `SPLIT_INPUTS`; `titles`: schema `TITLES`.
    """
    own = titles.filter(pl.col("occupation_ids").list.len() == 1).group_by(
        pl.col("occupation_ids").list.first().alias("occupation_id"), maintain_order=True
    )
    labelled = without(inputs.filter(pl.col("cleaned") != ""), taken).unique(
        "normalized", maintain_order=True
    )
    drawn = labelled.join(own.agg("title"), on="occupation_id", how="inner", maintain_order="left")
    chosen = [rng.choice(names, copies).tolist() for names in drawn["title"].to_list()]
    rows = drawn.select(
        pl.Series("title", chosen, pl.List(pl.String)), variant="cleaned", normalized="normalized"
    )
    return rows.explode("title").unique(maintain_order=True)
