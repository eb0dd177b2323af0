"""The columns and types of every frame that a stage writes.

The pairs' file has no schema here: its dictionary column is written, row group by row group, with
pyarrow. `docs/design/files.md` lists the files with the names of their schemas.
"""

from __future__ import annotations

import polars as pl

from tasks.io.frames import Schema


def _text(*columns: str) -> Schema:
    return dict.fromkeys(columns, pl.String)


def _fractions(*columns: str) -> Schema:
    return dict.fromkeys(columns, pl.Float64)


OCCUPATIONS: Schema = {**_text("occupation_id", "occupation_label"), "codes": pl.List(pl.String)}
GROUPS: Schema = _text("code", "label")
ALIASES: Schema = {**_text("occupation_id", "title", "language"), "preferred": pl.Boolean}
"""A title stands once for each of its languages; `language` is empty where it is unknown, and
`preferred` marks the occupation's label in that language."""
INPUTS: Schema = {"input_id": pl.UInt32, **_text("raw_title", "occupation_id")}
REJECTED: Schema = {"file": pl.String, "line": pl.UInt32, **_text("reason", "row")}
READINGS: Schema = _text("cleaned", "normalized")  # of titles (`tasks/io/title_readings.py`)
SPLIT_ALIASES: Schema = {**ALIASES, **READINGS, "split": pl.String}
SPLIT_INPUTS: Schema = {**INPUTS, **READINGS, "split": pl.String}
TITLES: Schema = {
    **_text("title", "normalized", "language"),
    "occupation_ids": pl.List(pl.String),
    "occupation_size": pl.UInt32,
    "split": pl.String,
}
"""The distinct cleaned titles of the taxonomy, the first language of each, all occupations that
hold them, and how many titles the largest of these has."""
AUXILIARY_TITLES: Schema = {
    **_text("title", "normalized"),
    "occupation_ids": pl.List(pl.String),
    "noisy": pl.Boolean,
}
"""The distinct cleaned titles of a second taxonomy, with all of its occupations that hold them, and
noisy copies, with all occupations of the titles that they are of."""
SPLITS = ("test", "valid", "gate")  # of queries: reported, for early stopping, for the gate
QUERIES: Schema = {
    **_text("query_id", "test", "split", "raw_title", *READINGS),
    "occupation_ids": pl.List(pl.String),
    "occupation_size": pl.UInt32,
    "source": pl.String,
}
VARIANTS: Schema = _text("title", "variant", "normalized")
"""A cleaned title of the taxonomy and a variant of it, which is cleaned and normalized."""
SYNONYMS: Schema = {
    **_text("occupation_id", "phrase", "replacement", "kind"),
    "contexts": pl.UInt32,
}
SYNONYM_VARIANTS: Schema = {**VARIANTS, **_text("phrase", "replacement", "kind")}
EXTRA_WORDS_VARIANTS: Schema = {
    **VARIANTS,
    "kind": pl.String,
    "label_agrees": pl.Boolean,
    "split": pl.String,
}

FEEDBACK: Schema = {
    **_text("raw_title", "predicted_occupation_id", "matched_title", "model_version"),
    **_text("verdict", "corrected_occupation_id", "reviewer_id", "judged_at"),
}
VERDICTS: Schema = {
    **_text("raw_title", "normalized", "predicted_occupation_id", "matched_title", "verdict"),
    **_text("occupation_id", "reviewer_id", "judged_at", "chosen_by", "model_version", "served"),
    "from_labels": pl.Boolean,
}
"""Every accepted row of feedback. `occupation_id` is the one that the row calls correct, if any;
`chosen_by` says how a review queue chose the title, and `served` whether users got the prediction;
`from_labels` marks the rows of the stage `simulate_feedback`, whose verdicts come from labels."""
RESOLUTIONS: Schema = {
    **_text("raw_title", *READINGS, "predicted_occupation_id", "matched_title", "resolution"),
    "disputed": pl.Boolean,
    "occupation_id": pl.String,
    "held_out": pl.Boolean,
}
"""One row a prediction with verdicts (`tasks/pipeline/feedback/resolution.py`). `matched_title` is
the title that training pairs are made with, null if there is none; `occupation_id` is the correct
one, if known; `held_out` marks titles that only the gate queries (`held_out.py`)."""
OVERRIDES: Schema = {**_text("normalized", "occupation_id"), "correct": pl.Boolean}
"""Answers that reviewers have fixed; a null `occupation_id` means not a job title. A title without
such an answer may have rows that are not `correct`: occupations that it does not get."""

STRINGS: Schema = {
    "string_id": pl.UInt32,
    "title": pl.String,
    "occupation_ids": pl.List(pl.String),
    "role": pl.String,
}
PRIOR: Schema = {"occupation_id": pl.String, "chance": pl.Float64, "bias": pl.Float32}
"""The share of each occupation among inputs, and the bias that it adds to the score."""
EXEMPLARS: Schema = {**_text("title", "occupation_id"), "weight": pl.Float32, "source": pl.String}
"""Cleaned inputs as further aliases of an occupation; an unlabelled input has several rows.
`source` says who named the occupation: `review` (people), `label` (came with the data), `model`."""
HISTORY: Schema = {  # the looks of a training; the losses of step 0 are NaN
    "step": pl.Int64,
    **_fractions("loss", "loss_similar", "loss_dissimilar", "valid_score"),
}
RUN: Schema = {
    **_text("system", "test", "query_id"),
    "rank": pl.UInt32,
    **_text("occupation_id", "title"),
    "score": pl.Float32,
}
TABLE: Schema = {
    **_text("system", "test", "slice", "metric"),
    **_fractions("value", "low", "high"),
    "n": pl.Int64,
}
SCORES: Schema = {
    **_text("system", "test", "query_id"),
    **_fractions("success_at_1", "success_at_5", "success_at_10", "reciprocal_rank"),
}
