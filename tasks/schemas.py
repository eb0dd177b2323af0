"""The columns and types of every frame that a stage writes; docs/DESIGN.md says what they hold.

The pairs' file is not here: its dictionary column is written, row group by row group, with pyarrow.
"""

from __future__ import annotations

import polars as pl

from tasks.frames import Schema

OCCUPATIONS: Schema = {
    "occupation_id": pl.String,
    "occupation_label": pl.String,
    "codes": pl.List(pl.String),
}
ALIASES: Schema = {"occupation_id": pl.String, "title": pl.String, "preferred": pl.Boolean}
INPUTS: Schema = {"input_id": pl.UInt32, "raw_title": pl.String, "occupation_id": pl.String}
REJECTED: Schema = {
    "file": pl.String,
    "line": pl.UInt32,
    "reason": pl.String,
    "row": pl.String,
}

SPLIT_ALIASES: Schema = {**ALIASES, "split": pl.String}
SPLIT_INPUTS: Schema = {**INPUTS, "split": pl.String}
QUERIES: Schema = {
    "query_id": pl.String,
    "test": pl.String,
    "part": pl.String,
    "raw_title": pl.String,
    "occupation_ids": pl.List(pl.String),
    "occupation_size": pl.UInt32,
    "source": pl.String,
}
VARIANTS: Schema = {"title": pl.String, "typo": pl.String}

STRINGS: Schema = {
    "string_id": pl.UInt32,
    "title": pl.String,
    "occupation_ids": pl.List(pl.String),
    "role": pl.String,
}

RUN: Schema = {
    "system": pl.String,
    "test": pl.String,
    "query_id": pl.String,
    "rank": pl.UInt32,
    "occupation_id": pl.String,
    "title": pl.String,
    "score": pl.Float32,
}
SCORES: Schema = {
    "system": pl.String,
    "test": pl.String,
    "query_id": pl.String,
    "success_at_1": pl.Float64,
    "success_at_5": pl.Float64,
    "success_at_10": pl.Float64,
    "reciprocal_rank": pl.Float64,
}
