"""What people say of titles, whatever is done with it: the look-up of a registered model.

In: every opinion on a title (schema `FEEDBACK_ROWS`), those of tests' queries and of the gate's among
them, as no test asks through a look-up. Out: schema `OVERRIDES`, the one right occupation of each
normalized title by the rules of `tasks/pipeline/feedback/verdicts.py`, or none where more reviewers call it
no job title than give it an occupation; a title on which they are at a tie is left out.
"""

from __future__ import annotations

import polars as pl

from tasks.io.schemas import OVERRIDES
from tasks.pipeline.feedback.reviews import NOT_A_JOB_TITLE, TITLE, latest_reviews, reviews
from tasks.pipeline.feedback.verdicts import resolve


def overrides(feedback_rows: pl.DataFrame, aliases: pl.DataFrame) -> pl.DataFrame:
    """Return schema `OVERRIDES`, sorted.

    Args:
        opinions: schema `FEEDBACK_ROWS`; a row without a predicted occupation speaks of a title alone.
        aliases: schema `SPLIT_ALIASES`; what contradicts the taxonomy's own titles is left out.
    """
    predicted = feedback_rows.drop_nulls("predicted_occupation_id")
    outcomes = resolve(predicted, aliases, ()).outcomes
    given = outcomes.drop_nulls("occupation_id").select(TITLE, "occupation_id").unique()
    voices = (
        latest_reviews(reviews(feedback_rows).filter(~pl.col("from_labels")))
        .group_by(TITLE)
        .agg(
            none=(pl.col("verdict") == NOT_A_JOB_TITLE).sum(),
            some=pl.col("occupation_id").is_not_null().sum(),
        )
        .filter((pl.col("none") > 0) & ~pl.col(TITLE).is_in(aliases["normalized"].to_list()))
    )
    none = voices.filter(pl.col("none") > pl.col("some")).select(
        TITLE, occupation_id=pl.lit(None, pl.String)
    )
    doubtful = voices.filter(pl.col("none") >= pl.col("some"))
    return (
        pl.concat([given.join(doubtful, on=TITLE, how="anti"), none])
        .sort(TITLE)
        .select([*OVERRIDES])
    )
