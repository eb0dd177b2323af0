"""The columns and types of every frame that a stage writes; docs/DESIGN.md says what they hold.

The pairs' file is not here: its dictionary column is written, row group by row group, with pyarrow.
"""

from __future__ import annotations

import polars as pl

from tasks.files.frames import Schema

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

READINGS: Schema = {"cleaned": pl.String, "normalized": pl.String}
"""Of the titles beside them (`tasks/files/titles.py`)."""
SPLIT_ALIASES: Schema = {**ALIASES, **READINGS, "split": pl.String}
SPLIT_INPUTS: Schema = {**INPUTS, **READINGS, "split": pl.String}
TITLES: Schema = {
    "title": pl.String,
    "normalized": pl.String,
    "occupation_ids": pl.List(pl.String),
    "occupation_size": pl.UInt32,
    "split": pl.String,
}
"""The distinct cleaned titles of the taxonomy, all occupations that hold them, and how many titles
the largest of these has."""
COMPANION: Schema = {
    "title": pl.String,
    "normalized": pl.String,
    "occupation_ids": pl.List(pl.String),
    "noisy": pl.Boolean,
}
"""The distinct cleaned titles of a second taxonomy, with all of its occupations that hold them, and
noisy copies, with all occupations of the titles that they are of."""
PARTS = ("test", "valid", "gate")
"""Of the queries of every test: reported, stopped early on, and judged by the gate."""
QUERIES: Schema = {
    "query_id": pl.String,
    "test": pl.String,
    "part": pl.String,
    "raw_title": pl.String,
    **READINGS,
    "occupation_ids": pl.List(pl.String),
    "occupation_size": pl.UInt32,
    "source": pl.String,
}
VARIANTS: Schema = {"title": pl.String, "variant": pl.String, "normalized": pl.String}
"""A cleaned title of the taxonomy, and another way to say it: cleaned, and normalized."""
SYNONYMS: Schema = {
    "occupation_id": pl.String,
    "part": pl.String,
    "other": pl.String,
    "kind": pl.String,
    "contexts": pl.UInt32,
}
SYNONYM_VARIANTS: Schema = {**VARIANTS, "part": pl.String, "other": pl.String, "kind": pl.String}
EXTRA_WORDS_VARIANTS: Schema = {
    **VARIANTS,
    "kind": pl.String,
    "label_agrees": pl.Boolean,
    "part": pl.String,
}
FEEDBACK: Schema = {
    "raw_title": pl.String,
    "predicted_occupation_id": pl.String,
    "matched_title": pl.String,
    "model_version": pl.String,
    "verdict": pl.String,
    "corrected_occupation_id": pl.String,
    "reviewer_id": pl.String,
    "judged_at": pl.String,
}
OPINIONS: Schema = {**FEEDBACK, "own": pl.Boolean}
"""With `own` for what the stage `score` wrote, where labels judge and not people."""
OUTCOMES: Schema = {
    "raw_title": pl.String,
    **READINGS,
    "predicted_occupation_id": pl.String,
    "fate": pl.String,
    "disputed": pl.Boolean,
    "occupation_id": pl.String,
}
"""What became of each judged prediction (`tasks/pairing/verdicts.py`), and the right occupation."""
JUDGED: Schema = {**OUTCOMES, "reserved": pl.Boolean}
"""With `reserved` for titles that only the gate asks (`tasks/pairing/reserve.py`)."""
VERDICTS: Schema = {
    "raw_title": pl.String,
    **READINGS,
    "matched_title": pl.String,
    "predicted_occupation_id": pl.String,
    "right": pl.Boolean,
    "corrected_occupation_id": pl.String,
}

WORDS: Schema = {
    "raw_title": pl.String,
    "normalized": pl.String,
    "predicted_occupation_id": pl.String,
    "verdict": pl.String,
    "occupation_id": pl.String,
    "reviewer_id": pl.String,
    "judged_at": pl.String,
    "own": pl.Boolean,
}
"""Every row of feedback that was taken: who said what of which title, and when. `occupation_id` is
the one that the row says is right, if it says so."""
TOLD: Schema = {"normalized": pl.String, "occupation_id": pl.String}
"""What people together say of a title; null: no job title."""

STRINGS: Schema = {
    "string_id": pl.UInt32,
    "title": pl.String,
    "occupation_ids": pl.List(pl.String),
    "role": pl.String,
}

PRIOR: Schema = {"occupation_id": pl.String, "chance": pl.Float64, "bias": pl.Float32}
"""How likely each occupation is among inputs, and what that adds to its score."""
EXEMPLARS: Schema = {"title": pl.String, "occupation_id": pl.String, "weight": pl.Float32}
"""Cleaned inputs as further aliases of an occupation; one whose occupation is guessed has several
rows."""

RUN: Schema = {
    "system": pl.String,
    "test": pl.String,
    "query_id": pl.String,
    "rank": pl.UInt32,
    "occupation_id": pl.String,
    "title": pl.String,
    "score": pl.Float32,
}
TABLE: Schema = {
    "system": pl.String,
    "test": pl.String,
    "slice": pl.String,
    "metric": pl.String,
    "value": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "n": pl.Int64,
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
