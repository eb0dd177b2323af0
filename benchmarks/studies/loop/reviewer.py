"""A person who reviews some of a week's titles.

`queue` are the titles that `rolecall review` chooses from the answers of all weeks so far, `random`
are titles of inputs of the week drawn one by one, and with `nothing` nobody reviews. A person
confirms the champion's answer or corrects it to the label. The choice does not see the labels.
"""

from __future__ import annotations

from datetime import date, timedelta

import numpy as np
import polars as pl

from benchmarks.studies.loop.product import ANSWER
from tasks.apps.review.candidates import AT_RANDOM
from tasks.io.formulas import unguarded
from tasks.io.frames import Schema
from tasks.io.schemas import FEEDBACK
from tasks.io.title_readings import normalized
from tasks.pipeline.feedback.feedback_rows.cells import CORRECT, COVERAGE, INCORRECT, RANDOM

QUEUE, NOTHING = "queue", "nothing"
FILLED_IN: Schema = {**FEEDBACK, "chosen_by": pl.String}
FIRST_DAY = date(2026, 1, 5)
"""Of the first week."""


def random_queue(titles: pl.DataFrame, budget: int, rng: np.random.Generator) -> pl.DataFrame:
    """Return titles of inputs drawn one by one, repeated ones skipped, as a queue.

    `titles`: `raw_title, rows` and answers. Every fifth is marked as random and so kept for the
    gate, as of the queue, that both arms learn from equally many.
    """
    inputs = np.repeat(np.arange(len(titles)), titles["rows"].to_numpy())
    places = [*dict.fromkeys(rng.permutation(inputs).tolist())][:budget]
    is_kept = pl.int_range(pl.len()) % AT_RANDOM == AT_RANDOM - 1
    return titles[places].select(
        "raw_title",
        pl.col(f"{ANSWER}occupation_id").alias("predicted_occupation_id"),
        *(pl.col(ANSWER + name).alias(name) for name in ("matched_title", "model_version")),
        chosen_by=pl.when(is_kept).then(pl.lit(RANDOM)).otherwise(pl.lit(COVERAGE)),
    )


def filled_in(queue: pl.DataFrame, titles: pl.DataFrame, week: int) -> pl.DataFrame:
    """Return a queue's rows with the person's verdicts: schema `FILLED_IN`.

    `titles`: `normalized` and `label`, the right occupation.
    """
    texts = queue.with_columns(pl.col(pl.String).replace("", None))
    named = texts.with_columns(unguarded(queue["raw_title"]))
    named = named.with_columns(normalized(named["raw_title"])).join(
        titles.select("normalized", "label"), on="normalized", how="left", maintain_order="left"
    )
    right = pl.col("predicted_occupation_id").eq_missing(pl.col("label"))
    day = FIRST_DAY + timedelta(weeks=week - 1)
    return named.with_columns(
        verdict=pl.when(right).then(pl.lit(CORRECT)).otherwise(pl.lit(INCORRECT)),
        corrected_occupation_id=pl.when(~right).then("label"),
        reviewer_id=pl.lit("person"),
        judged_at=pl.lit(day.isoformat()),
    ).select(list(FILLED_IN))
