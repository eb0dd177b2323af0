"""The columns and types of every frame that a stage writes.

The pairs' file has no schema here: its dictionary column is written, row group by row group, with
pyarrow. `docs/hooks/data_files.py` and `docs/hooks/network_files.py` list the files with their
schemas.
"""

from __future__ import annotations

import polars as pl

from tasks.io.frames import Schema

OCCUPATIONS: Schema = {
    "occupation_id": pl.String,
    "occupation_label": pl.String,
    "codes": pl.List(pl.String),
}
GROUPS: Schema = {"code": pl.String, "label": pl.String}
ALIASES: Schema = {
    "occupation_id": pl.String,
    "title": pl.String,
    "language": pl.String,
    "preferred": pl.Boolean,
}
"""A title stands once for each of its languages; `language` is empty where it is unknown, and
`preferred` marks the occupation's label in that language."""
INPUTS: Schema = {"input_id": pl.UInt32, "raw_title": pl.String, "occupation_id": pl.String}
REJECTED: Schema = {
    "file": pl.String,
    "line": pl.UInt32,
    "reason": pl.String,
    "row": pl.String,
}

READINGS: Schema = {"cleaned": pl.String, "normalized": pl.String}
"""Of the titles beside them (`tasks/io/title_readings.py`)."""
SPLIT_ALIASES: Schema = {**ALIASES, **READINGS, "split": pl.String}
SPLIT_INPUTS: Schema = {**INPUTS, **READINGS, "split": pl.String}
TITLES: Schema = {
    "title": pl.String,
    "normalized": pl.String,
    "language": pl.String,
    "occupation_ids": pl.List(pl.String),
    "occupation_size": pl.UInt32,
    "split": pl.String,
}
"""The distinct cleaned titles of the taxonomy, the first language of each, all occupations that
hold them, and how many titles the largest of these has."""
AUXILIARY_TITLES: Schema = {
    "title": pl.String,
    "normalized": pl.String,
    "occupation_ids": pl.List(pl.String),
    "noisy": pl.Boolean,
}
"""The distinct cleaned titles of a second taxonomy, with all of its occupations that hold them, and
noisy copies, with all occupations of the titles that they are of."""
SPLITS = ("test", "valid", "gate")
"""Of the queries of every test: reported, used for early stopping, and queried by the gate."""
QUERIES: Schema = {
    "query_id": pl.String,
    "test": pl.String,
    "split": pl.String,
    "raw_title": pl.String,
    **READINGS,
    "occupation_ids": pl.List(pl.String),
    "occupation_size": pl.UInt32,
    "source": pl.String,
}
VARIANTS: Schema = {"title": pl.String, "variant": pl.String, "normalized": pl.String}
"""A cleaned title of the taxonomy and a variant of it, which is cleaned and normalized."""
SYNONYMS: Schema = {
    "occupation_id": pl.String,
    "phrase": pl.String,
    "replacement": pl.String,
    "kind": pl.String,
    "contexts": pl.UInt32,
}
SYNONYM_VARIANTS: Schema = {
    **VARIANTS,
    "phrase": pl.String,
    "replacement": pl.String,
    "kind": pl.String,
}
EXTRA_WORDS_VARIANTS: Schema = {
    **VARIANTS,
    "kind": pl.String,
    "label_agrees": pl.Boolean,
    "split": pl.String,
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
FEEDBACK_ROWS: Schema = {
    **FEEDBACK,
    "chosen_by": pl.String,
    "served": pl.String,
    "from_labels": pl.Boolean,
}
"""`chosen_by` and `served` are columns of a review queue, if the title was in one. `from_labels`
marks the rows of stage `simulate_feedback`, whose verdicts come from labels."""
OUTCOMES: Schema = {
    "raw_title": pl.String,
    **READINGS,
    "predicted_occupation_id": pl.String,
    "resolution": pl.String,
    "disputed": pl.Boolean,
    "occupation_id": pl.String,
}
"""The resolution of each judged prediction (`tasks/pipeline/feedback/verdicts.py`), and the correct
occupation."""
JUDGED: Schema = {**OUTCOMES, "held_out": pl.Boolean}
"""`held_out` marks titles that only the gate queries (`tasks/pipeline/feedback/held_out.py`)."""
VERDICTS: Schema = {
    "raw_title": pl.String,
    **READINGS,
    "matched_title": pl.String,
    "predicted_occupation_id": pl.String,
    "correct": pl.Boolean,
    "corrected_occupation_id": pl.String,
}

REVIEWS: Schema = {
    "raw_title": pl.String,
    "normalized": pl.String,
    "predicted_occupation_id": pl.String,
    "verdict": pl.String,
    "occupation_id": pl.String,
    "reviewer_id": pl.String,
    "judged_at": pl.String,
    "chosen_by": pl.String,
    "model_version": pl.String,
    "served": pl.String,
    "from_labels": pl.Boolean,
}
"""Every accepted row of feedback, with reviewer and date. `occupation_id` is the one that the row
calls correct, if any; `served` says whether users got the prediction."""
OVERRIDES: Schema = {"normalized": pl.String, "occupation_id": pl.String, "correct": pl.Boolean}
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
EXEMPLARS: Schema = {
    "title": pl.String,
    "occupation_id": pl.String,
    "weight": pl.Float32,
    "source": pl.String,
}
"""Cleaned inputs as further aliases of an occupation; an unlabelled input has several rows.

`source` says who named the occupation: `review` (people), `label` (came with the data) or `model`.
"""

HISTORY: Schema = {
    "step": pl.Int64,
    **dict.fromkeys(("loss", "loss_similar", "loss_dissimilar", "valid_score"), pl.Float64),
}
"""The looks of a training; the losses of step 0 are NaN."""
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
