"""Many people's verdicts to one resolution a prediction: conflicts and duplicates by stated rules.

Raw titles are the same if they are equal normalized. In this order:

1. A raw title that is a query of any test and split is left out of everything but the overrides.
2. A raw title of the taxonomy keeps the verdicts that agree with it, and the corrections to an
   occupation that holds it: a fault of the taxonomy is repaired there.
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
   correct one beside it if there is one. Another prediction decided correct is dropped.
9. An `incorrect` prediction never speaks against a title of the correct occupation: if its matched
   title is one, the predicted occupation's label replaces it; if the label is one, it has none,
   and nothing trains on it.

Verdicts without reviewer are one unnamed reviewer's; without a time, older than any other. A raw
title is written as the first of its spellings in the alphabet; of several matched titles the latest
stands, then the first in the alphabet. No rule depends on the order of the verdicts.
"""

from __future__ import annotations

from collections.abc import Container

import polars as pl

from tasks.io.frames import check
from tasks.io.schemas import VERDICTS
from tasks.io.title_readings import cleaned
from tasks.pipeline.feedback.occupation_ids import labels_of
from tasks.pipeline.feedback.reader import INCORRECT, NOT_A_JOB_TITLE

TITLE = "normalized"
CLAIM = [TITLE, "occupation_id"]
PERSON, LABELS = 2, 1  # weights of a voice (rule 6)
DISPUTED = (pl.col("pro") > 0) & (pl.col("con") > 0)  # in the frame of `_decide`


def resolve(
    verdicts: pl.DataFrame, aliases: pl.DataFrame, queries: Container[str]
) -> tuple[pl.DataFrame, pl.DataFrame, dict[str, int]]:
    """Return the resolutions, those of (normalized) queries (rule 1), and counts.

    Both frames have the columns of `RESOLUTIONS` but `held_out`, sorted by raw title and predicted
    occupation. Verdicts: `rows` = `query` + `contradicts_taxonomy` + `duplicate` + `outdated` +
    `counted`. Predictions (distinct raw title and predicted occupation): `predictions` = `correct`
    + `incorrect` + `unresolved` + `not_the_right_one` + `shared_title`. `conflicts` counts the raw
    titles and occupations on which reviewers differed.
    """
    judged = check(verdicts, VERDICTS, "verdicts").drop_nulls("predicted_occupation_id")
    rows = judged.select(
        TITLE,
        pl.col("raw_title").min().over(TITLE),  # the first of its spellings
        "matched_title",
        occupation_id="predicted_occupation_id",
        correct=pl.col("verdict") == "correct",
        correction=pl.when(pl.col("verdict") == INCORRECT).then("occupation_id"),
        reviewer=pl.struct("from_labels", "reviewer_id"),
        weight=pl.when("from_labels").then(LABELS).otherwise(PERSON),
        at=pl.col("judged_at").fill_null(""),  # sorts before every time
    )
    queried = [title for title in rows[TITLE].unique() if title in queries]
    is_query = pl.col(TITLE).is_in(queried)
    agreeing, lost = _agreeing(rows, aliases)
    distinct = _latest_first(agreeing).unique(
        ["reviewer", *CLAIM, "correct", "correction"], keep="first", maintain_order=True
    )
    counted = distinct.filter(pl.col("at") == pl.col("at").max().over("reviewer", *CLAIM))
    decided = _decide(counted)
    predictions, replaced = _without_shared_titles(_predictions(counted, decided), aliases)
    of_queries, resolutions = predictions.filter(is_query), predictions.filter(~is_query)
    sizes = [len(frame.filter(~is_query)) for frame in (rows, agreeing, distinct, counted)]
    found = resolutions["resolution"].to_list()
    wrong = resolutions.filter(resolution="incorrect").drop_nulls("matched_title")
    counts = {
        "rows": len(rows),
        "query": len(rows) - sizes[0],
        "contradicts_taxonomy": sizes[0] - sizes[1],
        "correction_contradicts_taxonomy": len(lost.filter(~is_query)),
        "duplicate": sizes[1] - sizes[2],
        "outdated": sizes[2] - sizes[3],
        "counted": sizes[3],
        "conflicts": len(decided.filter(DISPUTED & ~is_query)),
        "predictions": len(resolutions),
        "correct": found.count("correct"),
        "incorrect": len(wrong),
        "corrected": wrong["occupation_id"].count(),
        "unresolved": found.count("unresolved"),
        "not_the_right_one": found.count("not_the_right_one"),
        "shared_title": found.count("incorrect") - len(wrong),
        "shared_title_replaced": len(replaced.filter(~is_query)),
    }
    return resolutions, of_queries, counts


def latest_verdicts(verdicts: pl.DataFrame) -> pl.DataFrame:
    """Return each reviewer's latest answer to a title (schema `VERDICTS`); two at once are none."""
    answers = pl.col("occupation_id").is_not_null() | (pl.col("verdict") == NOT_A_JOB_TITLE)
    at, whose = pl.col("judged_at").fill_null(""), [TITLE, "reviewer_id", "from_labels"]
    latest = verdicts.filter(answers).filter((at == at.max()).over(whose))
    alone = latest.filter(pl.col("occupation_id").n_unique().over(whose) == 1)
    return alone.unique(whose, keep="first", maintain_order=True)


def overrides(
    resolutions: pl.DataFrame, verdicts: pl.DataFrame, aliases: pl.DataFrame
) -> pl.DataFrame:
    """Return the answers that reviewers fixed (schema `OVERRIDES`), sorted.

    An override is the one correct occupation of a title, or one that people called incorrect and
    gave no other for. No test uses overrides, so titles of queries are among them. A title has no
    occupation if more reviewers call it not a job title than give it one; at a tie it has no
    override. The taxonomy's own titles are job titles, whoever says otherwise.
    """
    by_people = latest_verdicts(verdicts.filter(~pl.col("from_labels"))).group_by(TITLE)
    counted = by_people.agg(
        none=(pl.col("verdict") == NOT_A_JOB_TITLE).sum(), some=pl.col("occupation_id").count()
    )
    is_alias = pl.col(TITLE).is_in(aliases["normalized"].to_list())
    voices = counted.filter((pl.col("none") > 0) & ~is_alias)
    none = voices.filter(pl.col("none") > pl.col("some"))
    doubtful = voices.filter(pl.col("none") >= pl.col("some"))
    correct = resolutions.drop_nulls("occupation_id").select(TITLE, "occupation_id").unique()
    wrong = resolutions.filter(pl.col("occupation_id").is_null(), resolution="incorrect")
    rejected = wrong.select(TITLE, occupation_id="predicted_occupation_id").unique()
    rows = [
        (correct.join(doubtful, on=TITLE, how="anti"), True),
        (none.select(TITLE, occupation_id=pl.lit(None, pl.String)), True),
        (rejected.join(doubtful, on=TITLE, how="anti"), False),
    ]
    marked = [frame.with_columns(correct=pl.lit(correct)) for frame, correct in rows]
    return pl.concat(marked).sort(TITLE, "occupation_id")


def _latest_first(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.sort("at", "matched_title", descending=[True, False])


def _agreeing(rows: pl.DataFrame, aliases: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Rule 2: the rows that stay, and those of them that lost their correction."""
    owners = aliases.group_by(TITLE).agg(owners="occupation_id")
    with_owners = rows.join(owners, on=TITLE, how="left", maintain_order="left")
    held = pl.col("occupation_id").is_in("owners")
    kept = with_owners.filter(pl.col("owners").is_null() | (pl.col("correct") == held))
    # null, as false, without a correction or without owners
    strange = (~pl.col("correction").is_in("owners")).fill_null(value=False)
    repaired = kept.with_columns(correction=pl.when(~strange).then("correction"))
    return repaired.drop("owners"), kept.filter(strange)


def _decide(counted: pl.DataFrame) -> pl.DataFrame:
    """Rules 5 and 6, a row a claim: `normalized, occupation_id, pro, con, last_pro, decided`."""
    columns = (*CLAIM, "reviewer", "weight", "at")
    corrections = counted.drop_nulls("correction").with_columns(occupation_id="correction")
    claims = pl.concat(
        [counted.select(*columns, says="correct"), corrections.select(*columns, says=True)]
    )
    voices = (
        claims.filter(pl.col("at") == pl.col("at").max().over("reviewer", *CLAIM))
        .group_by("reviewer", *CLAIM)
        .agg(pl.col("at", "says", "weight").first(), one=pl.col("says").n_unique() == 1)
        .filter("one")
    )
    sides = voices.group_by(CLAIM).agg(
        pro=pl.col("weight").filter("says").sum(),
        con=pl.col("weight").filter(~pl.col("says")).sum(),
        last_pro=pl.col("at").filter("says").max(),
        last_con=pl.col("at").filter(~pl.col("says")).max(),
    )
    return sides.with_columns(
        decided=pl.when(pl.col("pro") != pl.col("con"))
        .then(pl.col("pro") > pl.col("con"))
        .when(pl.col("last_pro") != pl.col("last_con"))
        .then(pl.col("last_pro") > pl.col("last_con"))
    )


def _predictions(counted: pl.DataFrame, decided: pl.DataFrame) -> pl.DataFrame:
    """Rules 7 and 8: a row a raw title and predicted occupation."""
    best = decided.filter("decided")
    for column in ("pro", "last_pro"):
        best = best.filter(pl.col(column) == pl.col(column).max().over(TITLE))
    correct = best.filter(pl.len().over(TITLE) == 1).select(TITLE, correct="occupation_id")
    cases = {
        "unresolved": pl.col("decided").is_null(),
        "incorrect": ~pl.col("decided"),
        "correct": pl.col("occupation_id").eq_missing(pl.col("correct")),
    }
    named = (pl.when(holds).then(pl.lit(name)) for name, holds in cases.items())
    resolution = pl.coalesce(*named, pl.lit("not_the_right_one"))
    rows = (
        _latest_first(counted)
        .group_by(CLAIM, maintain_order=True)
        .agg(pl.col("raw_title", "matched_title").first())
        .join(decided.select(*CLAIM, "decided", disputed=DISPUTED), on=CLAIM, how="left")
        .join(correct, on=TITLE, how="left")
        .sort("raw_title", "occupation_id")
    )
    return rows.select(
        "raw_title",
        cleaned(rows["raw_title"]),
        TITLE,
        pl.col("occupation_id").alias("predicted_occupation_id"),
        "matched_title",
        resolution.alias("resolution"),
        pl.col("disputed").fill_null(value=False),
        pl.col("correct").alias("occupation_id"),
    )


def _without_shared_titles(
    predictions: pl.DataFrame, aliases: pl.DataFrame
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Rule 9: all predictions, and those that got a label for their matched title."""
    labels = labels_of(aliases).rename({"occupation_id": "predicted_occupation_id"})
    rows = predictions.join(labels, on="predicted_occupation_id", how="left", maintain_order="left")
    held = set(aliases.select("occupation_id", "cleaned").iter_rows())
    title_is_shared, label_is_shared = (
        pl.Series([pair in held for pair in rows["occupation_id", name].rows()], dtype=pl.Boolean)
        for name in ("matched_title", "label")
    )
    incorrect = pl.col("resolution") == "incorrect"
    kept = incorrect | (pl.col("resolution") == "correct")
    label = pl.when(~label_is_shared).then("label")
    matched_title = (
        pl.when(incorrect & title_is_shared).then(label).when(kept).then("matched_title")
    )
    replaced = rows.filter(incorrect & title_is_shared & ~label_is_shared)
    named = rows.with_columns(matched_title=matched_title)
    return named.select(predictions.columns), replaced
