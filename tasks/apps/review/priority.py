"""How much a title of a bulk run is worth a person's minute.

    priority = rows · wrong · (1 + close + far + changed)

`rows` have the title. `wrong` is the chance that its answer is wrong: 1 − confidence; ½ without
calibration or if the title is out of the model's domain; 1 if held back for low confidence; 0 if
unreadable. The others lie between 0 and 1: `close`, the second occupation scores nearly as much
(1 − score_margin / NEAR); `far`, the title is unlike all that the model knows (1 − score, 1 if out
of the domain); `changed`, an earlier run answered another occupation.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from models.normalizer.answers.abstention import NOT_A_JOB_TITLE, UNKNOWN_WORDS, UNSURE

OUT_OF_DOMAIN = (NOT_A_JOB_TITLE, UNKNOWN_WORDS)
NEAR = 0.1  # A second occupation that scores less by this much is no runner-up any more
LEVEL, UNLIKE = 0.02, 0.5  # the margin and the score below which the queue says so
UNKNOWN, HELD_BACK = 0.5, 1.0  # chances of a wrong answer where no confidence is known


def priority() -> pl.Expr:
    """Return the priority from the columns of an answer, `rows` and `earlier_occupation_id`."""
    close = (1 - pl.col("score_margin") / NEAR).clip(0, 1).fill_null(0)
    unlike = pl.when(pl.col("reason").is_in(OUT_OF_DOMAIN)).then(1.0).otherwise(0.0)
    far = (1 - pl.col("score")).clip(0, 1).fill_null(unlike)
    changed = pl.col("earlier_occupation_id").ne(pl.col("occupation_id")).fill_null(False)
    return pl.col("rows") * _wrong() * (1 + close + far + changed.cast(pl.Float64))


def _wrong() -> pl.Expr:
    answered = (1 - pl.col("confidence")).clip(0, 1).fill_null(UNKNOWN)
    reason = pl.col("reason")
    held_back = pl.when(reason == UNSURE).then(HELD_BACK).when(reason.is_in(OUT_OF_DOMAIN))
    return (
        pl.when(pl.col("abstained"))
        .then(held_back.then(UNKNOWN).otherwise(0.0))
        .otherwise(answered)
    )


def why_queued(row: Mapping[str, Any], labels: Mapping[str, str]) -> str:
    """Give the reasons for the priority of a title in words.

    `row`: an answer with `rows`, `run_reason` (why the run gave none) and `earlier_occupation_id`.
    """
    score, margin, earlier = row["score"], row["score_margin"], row["earlier_occupation_id"]
    reasons = [f"{row['rows']:,} row{'s' * (row['rows'] != 1)}", _how_sure(row)]
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
