"""How many rows of a title are probably answered incorrectly.

    priority = rows · wrong · (1 + changed)

`wrong` is the chance that the answer is wrong: 1 − confidence; ½ without calibration or if the
title is out of the model's domain; 1 if held back for low confidence. `changed` is 1 if an earlier
run answered another occupation, else 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from models.normalizer.answers.abstention import NOT_A_JOB_TITLE, UNKNOWN_WORDS, UNSURE
from tasks.pipeline.feedback.feedback_rows.cells import DISPUTED, RANDOM

OUT_OF_DOMAIN = (NOT_A_JOB_TITLE, UNKNOWN_WORDS)
LEVEL, UNLIKE = 0.02, 0.5  # the margin and the score below which the queue says so
UNKNOWN, HELD_BACK = 0.5, 1.0  # chances of a wrong answer where no confidence is known


def is_readable() -> pl.Expr:
    """Tell whether a title could be read, so that a person can judge it."""
    return ~pl.col("abstained") | pl.col("reason").is_in([UNSURE, *OUT_OF_DOMAIN])


def priority() -> pl.Expr:
    """Return the priority from the columns of an answer, `rows` and `earlier_occupation_id`."""
    wrong = (
        pl.when(pl.col("reason") == UNSURE)
        .then(HELD_BACK)
        .when(pl.col("reason").is_in(OUT_OF_DOMAIN))
        .then(UNKNOWN)
        .otherwise((1 - pl.col("confidence")).clip(0, 1).fill_null(UNKNOWN))
    )
    changed = pl.col("earlier_occupation_id").ne(pl.col("occupation_id")).fill_null(value=False)
    return pl.col("rows") * wrong * (1 + changed.cast(pl.Float64))


def why_queued(row: Mapping[str, Any], labels: Mapping[str, str]) -> str:
    """Give the reasons for a title in words.

    `row`: an answer with `rows`, `chosen_by`, `gain` (`title_coverage.py`), `run_reason` (why the
    run gave none), `earlier_occupation_id` and `other_occupation_id`.
    """
    score, margin, earlier = row["score"], row["score_margin"], row["earlier_occupation_id"]
    rows = f"{row['rows']:,} row{'s' * (row['rows'] != 1)}" if row["rows"] else "of an earlier run"
    reasons = [rows, _how_sure(row)]
    if row["chosen_by"] == RANDOM:
        reasons.append("drawn at random")
    elif row["chosen_by"] == DISPUTED:
        other = row["other_occupation_id"]
        reasons.append(f"a newer model answers {labels.get(other, other) or 'nothing'}")
    elif row["gain"] > 1:
        reasons.append(f"helps with some {row['gain']:,.0f} rows")
    if row["run_reason"] == UNSURE:
        reasons.append("held back in the run")
    if margin is not None and margin < LEVEL:
        reasons.append("the second occupation is as close")
    if score is not None and score < UNLIKE:
        reasons.append("unlike the titles that the model knows")
    if earlier and row["occupation_id"] and earlier != row["occupation_id"]:
        reasons.append(f"an earlier run answered {labels.get(earlier, earlier)}")
    return "; ".join(reasons)


def _how_sure(row: Mapping[str, Any]) -> str:
    if row["abstained"]:
        return f"no answer: {row['reason']}"
    if row["confidence"] is None:
        return "no confidence is known"
    return f"{100 * row['confidence']:.0f} % sure"
