"""Many people's feedback to one verdict a raw title: conflicts and duplicates by stated rules.

Raw titles are the same if they are equal normalized. In this order:

1. A raw title that is a query of any test and split is left out.
2. A raw title of the taxonomy keeps the rows that agree with it. `correct` for an occupation that
   does not hold the title, and `incorrect` for one that does, are left out, and a correction to an
   occupation that does not hold it is dropped: such a fault is repaired in the taxonomy itself.
3. The same reviewer's same verdict and correction on the same raw title and prediction count once.
4. Of a reviewer's different verdicts on one raw title and prediction the latest hold.
5. `correct` claims that the predicted occupation is correct, `incorrect` that it is not, and a
   correction that the corrected one is. Of one reviewer's claims on one occupation for one raw
   title the latest holds; if that is both yes and no, the reviewer has no voice.
6. Between reviewers the majority decides on an occupation; at a tie the side that spoke last;
   still at a tie, nobody: *unresolved*. The labels that judge the pipeline's own file are half a
   voice: a person outvotes them, and they decide between people at a tie.
7. A raw title has one correct occupation at most: of those decided correct the one with most
   voices for it, then the one confirmed last; else none.
8. The rest: `correct` on that occupation, and `incorrect` on those decided incorrect, with the
   correct one as correction if there is one. Another prediction decided correct is dropped.
9. An `incorrect` verdict never speaks against a title of the correct occupation: if its matched
   title is one, the predicted occupation's label replaces it; if the label is one, it is dropped.

Rows without reviewer are one unnamed reviewer's; without a time, older than any other. A raw title
is written as the first of its spellings in the alphabet; of several matched titles the latest
stands, then the first in the alphabet. No rule depends on the order of the rows.
"""

from __future__ import annotations

from collections.abc import Container
from typing import NamedTuple

import polars as pl

from tasks.io.frames import check
from tasks.io.schemas import FEEDBACK_ROWS
from tasks.io.title_readings import cleaned, normalized
from tasks.pipeline.feedback.feedback_rows.occupation_ids import labels_of
from tasks.pipeline.feedback.votes import CLAIM, claims, correct_ones, decide, disputed

PERSON, LABELS = 2, 1
"""Weights of a voice (rule 6)."""


class Resolved(NamedTuple):
    """Schema `VERDICTS`, sorted by (raw_title, predicted_occupation_id), `OUTCOMES`, and counts.

    `outcomes`, in the same order, has every prediction that was counted, and `of_queries` those on
    the raw titles that rule 1 leaves out, by the same rules. Rows: `rows` = `query` +
    `contradicts_taxonomy` + `duplicate` + `outdated` + `counted`. Predictions (distinct raw title
    and predicted occupation): `predictions` = `correct` + `incorrect` + `unresolved` +
    `not_the_right_one` + `shared_title`. Of `incorrect`, `corrected` have a correction, and
    `shared_title_replaced` a label for their matched title. `correction_contradicts_taxonomy`
    counts rows that lost their correction, `conflicts` the raw titles and occupations on which
    reviewers differed.
    """

    verdicts: pl.DataFrame
    outcomes: pl.DataFrame
    of_queries: pl.DataFrame
    counts: dict[str, int]


class _Applied(NamedTuple):
    """Rows and predictions after rules 2 to 8, and how many rows lost their correction."""

    agreeing: pl.DataFrame
    distinct: pl.DataFrame
    counted: pl.DataFrame
    decided: pl.DataFrame
    predictions: pl.DataFrame
    corrections_lost: int


def resolve(feedback: pl.DataFrame, aliases: pl.DataFrame, queries: Container[str]) -> Resolved:
    """Apply the rules of this module.

    `feedback` has schema `FEEDBACK_ROWS`, as `reader.py` reads it, `aliases` schema
    `SPLIT_ALIASES`; `queries` has the normalized strings of all queries.
    """
    rows = _working(feedback)
    is_query = pl.Series([title in queries for title in rows["normalized"]], dtype=pl.Boolean)
    unseen = rows.filter(~is_query)
    agreeing, distinct, counted, decided, predictions, corrections = _applied(unseen, aliases)
    resolutions = predictions["resolution"].to_list()
    judged = predictions.filter(pl.col("resolution").is_in(["correct", "incorrect"]))
    verdicts, replaced = _without_shared_titles(judged, aliases)
    counts = {
        "rows": len(rows),
        "query": len(rows) - len(unseen),
        "contradicts_taxonomy": len(unseen) - len(agreeing),
        "correction_contradicts_taxonomy": corrections,
        "duplicate": len(agreeing) - len(distinct),
        "outdated": len(distinct) - len(counted),
        "counted": len(counted),
        "conflicts": len(decided.filter(disputed())),
        "predictions": len(predictions),
        "correct": int(verdicts["correct"].sum()),
        "incorrect": int((~verdicts["correct"]).sum()),
        "corrected": verdicts["corrected_occupation_id"].count(),
        "unresolved": resolutions.count("unresolved"),
        "not_the_right_one": resolutions.count("not_the_right_one"),
        "shared_title": len(judged) - len(verdicts),
        "shared_title_replaced": replaced,
    }
    of_queries = _applied(rows.filter(is_query), aliases).predictions
    return Resolved(verdicts, _outcomes(predictions), _outcomes(of_queries), counts)


def _applied(rows: pl.DataFrame, aliases: pl.DataFrame) -> _Applied:
    """Apply rules 2 to 8, each of which looks at the rows of one raw title alone."""
    agreeing, corrections_lost = _agreeing(rows, aliases)
    distinct = _latest_first(agreeing).unique(
        ["reviewer", *CLAIM, "correct", "correction"], keep="first", maintain_order=True
    )
    counted = distinct.filter(pl.col("at") == pl.col("at").max().over("reviewer", *CLAIM))
    decided = decide(claims(counted))
    predictions = _predictions(counted, decided)
    return _Applied(agreeing, distinct, counted, decided, predictions, corrections_lost)


def _working(feedback: pl.DataFrame) -> pl.DataFrame:
    """Return the rows under the names of this module, each in the first of its spellings."""
    check(feedback, FEEDBACK_ROWS, "feedback")
    frame = feedback.select(
        "raw_title",
        "matched_title",
        pl.col("predicted_occupation_id").alias("occupation_id"),
        (pl.col("verdict") == "correct").alias("correct"),
        pl.when(pl.col("verdict") == "incorrect")
        .then("corrected_occupation_id")
        .alias("correction"),
        pl.struct("from_labels", pl.col("reviewer_id").fill_null("")).alias("reviewer"),
        pl.when("from_labels").then(LABELS).otherwise(PERSON).alias("weight"),
        pl.col("judged_at").fill_null("").alias("at"),  # sorts before every time
        normalized(feedback["raw_title"]),
    )
    return frame.with_columns(pl.col("raw_title").min().over("normalized"))


def _latest_first(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.sort("at", "matched_title", descending=[True, False])


def _agreeing(rows: pl.DataFrame, aliases: pl.DataFrame) -> tuple[pl.DataFrame, int]:
    """Rule 2: the rows that stay, and how many of them lost their correction."""
    owners = aliases.group_by("normalized").agg(pl.col("occupation_id").alias("owners"))
    with_owners = rows.join(owners, on="normalized", how="left", maintain_order="left")
    held = pl.col("occupation_id").is_in(pl.col("owners"))
    kept = with_owners.filter(pl.col("owners").is_null() | (pl.col("correct") == held))
    # null, as false, without a correction or without owners
    strange = (~pl.col("correction").is_in(pl.col("owners"))).fill_null(value=False)
    lost = kept.select(strange.sum()).item()
    repaired = kept.with_columns(correction=pl.when(~strange).then("correction"))
    return repaired.drop("owners"), int(lost)


def _predictions(rows: pl.DataFrame, decided: pl.DataFrame) -> pl.DataFrame:
    """Return one row a raw title and predicted occupation, with its `resolution` by rule 8."""
    resolution = (
        pl.when(pl.col("decided").is_null())
        .then(pl.lit("unresolved"))
        .when(~pl.col("decided"))
        .then(pl.lit("incorrect"))
        .when(pl.col("occupation_id").eq_missing(pl.col("correct")))
        .then(pl.lit("correct"))
        .otherwise(pl.lit("not_the_right_one"))
    )
    return (
        _latest_first(rows)
        .group_by(CLAIM, maintain_order=True)
        .agg(pl.col("raw_title", "matched_title").first())
        .join(decided.select(*CLAIM, "decided", disputed=disputed()), on=CLAIM, how="left")
        .join(correct_ones(decided), on="normalized", how="left")
        .sort("raw_title", "occupation_id")
        .with_columns(resolution=resolution)
    )


def _outcomes(predictions: pl.DataFrame) -> pl.DataFrame:
    """Return schema `OUTCOMES`."""
    return predictions.select(
        "raw_title",
        cleaned(predictions["raw_title"]),
        "normalized",
        pl.col("occupation_id").alias("predicted_occupation_id"),
        "resolution",
        pl.col("disputed").fill_null(value=False),
        pl.col("correct").alias("occupation_id"),
    )


def _without_shared_titles(judged: pl.DataFrame, aliases: pl.DataFrame) -> tuple[pl.DataFrame, int]:
    """Rule 9: rows of `VERDICTS`, and how many of them got a label for their matched title."""
    held = set(aliases.select("occupation_id", "cleaned").iter_rows())

    def speaks_against_the_correct_one(rows: pl.DataFrame) -> pl.Series:
        pairs = rows.select("correct", "matched_title").iter_rows()
        return ~rows["decided"] & pl.Series([pair in held for pair in pairs], dtype=pl.Boolean)

    named = judged.join(labels_of(aliases), on="occupation_id", how="left", maintain_order="left")
    replaced = speaks_against_the_correct_one(named)
    named = named.with_columns(
        matched_title=pl.when(replaced).then("label").otherwise("matched_title")
    )
    dropped = speaks_against_the_correct_one(named)
    kept = named.filter(~dropped)
    verdicts = kept.select(
        "raw_title",
        cleaned(kept["raw_title"]),
        "normalized",
        "matched_title",
        pl.col("occupation_id").alias("predicted_occupation_id"),
        pl.col("decided").alias("correct"),
        pl.when(~pl.col("decided")).then("correct").alias("corrected_occupation_id"),
    )
    return verdicts, int((replaced & ~dropped).sum())
