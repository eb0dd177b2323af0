"""The sections on people's feedback: its use, answers before and now, and reviewers' agreement.

*Before* is the verdict on the judged answer, *now* the answer of the report's network. The tables
separate titles that it was trained on from those that only the gate queries. Titles that a review
queue drew at random estimate the accuracy on people's inputs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import polars as pl
from markupsafe import Markup

from tasks.pipeline.feedback.held_out import chosen_as
from tasks.pipeline.feedback.reader import NOT_A_JOB_TITLE, RANDOM
from tasks.pipeline.feedback.resolution import TITLE, latest_verdicts
from tasks.pipeline.report.names import count, share, with_interval
from tasks.pipeline.report.page import section
from tasks.pipeline.report.report_data import ReportData

ROWS = {
    "query": "left out: a query of a test or the gate",
    "contradicts_taxonomy": "left out: the taxonomy itself says otherwise",
    "duplicate": "left out: an equal review by the same reviewer",
    "outdated": "left out: a later review by the same reviewer differs",
    "counted": "counted",
}
PREDICTIONS = {
    "correct": "correct",
    "incorrect": "incorrect",
    "corrected": "of these, with the right occupation",
    "unresolved": "undecided: reviewers differ",
    "not_the_right_one": "dropped: another occupation was confirmed more often",
    "shared_title": "dropped: wrong, but only by a title that the right occupation has too",
}
USES = {
    "trained": "verdicts to learn from",
    "held_out": "titles kept from training",
    "gate_queries": "of these, queries of the gate: the right occupation is known",
    "overrides": "titles whose answer reviewers have fixed",
    "not_job_titles": "of these, not job titles",
    "rejected_answers": "answers called incorrect without a better one, not given again",
}
REPAIRS = {
    "unknown_correction": "corrections to an occupation that the taxonomy does not have, dropped",
    "matched_title_replaced": "matched titles that no longer stand in the index, replaced",
    "answered_without_prediction": "right occupations of titles that the model had not answered",
    "verdict_from_correction": "verdicts that were empty beside a correction",
    "leading_zeros_restored": "ids that had lost zeros in front",
    "unknown_prediction": "answers judged not a job title that the taxonomy does not have, dropped",
}
EXAMPLES = 8
LABELS, UNNAMED = "labels of inputs", "no name given"
AGREEMENT = (pl.len().alias("pairs"), pl.col("same").mean().alias("agreed"))
LONGEST = 12  # rows of a table of occupations or titles


def feedback(report_data: ReportData) -> Markup:
    """Make the section of the rows that were taken, of their use, and of answers before and now."""
    counts = report_data.feedback
    if counts is None:
        return section("feedback", learns=False)
    known = report_data.resolutions.drop_nulls("occupation_id")
    answer = report_data.answers(known["cleaned"].to_list()).alias("answer")
    was, now = pl.col("resolution") == "correct", answer == known["occupation_id"]
    rows = known.with_columns(answer, was=was, now=now)
    kinds = (("learned from", False), ("kept for the gate", True))
    parts = [(name, rows.filter(held_out=held_out)) for name, held_out in kinds]
    drawn = pl.col("normalized").is_in(chosen_as(report_data.verdicts, RANDOM).implode())
    random = rows.filter(drawn).unique("normalized")
    interval = ""  # of the accuracy on people's inputs
    if len(random):
        ends = asdict(report_data.interval(random["now"].cast(pl.Float64), "random_rows"))
        interval = with_interval(ends["value"], ends)
    return section(
        "feedback",
        learns=True,
        files=list(_files(counts)),
        counts=[
            (caption, [(words, count(values[name])) for name, words in meaning.items()])
            for caption, meaning, values in (
                ("Use of the rows that were taken", ROWS, counts),
                ("Repairs", REPAIRS, counts["repairs"]),
                ("Verdicts on the predictions, conflicts resolved", PREDICTIONS, counts),
                ("Use of the verdicts", USES, counts),
            )
        ],
        changes=[(name, *_changes(part)) for name, part in parts if len(part)],
        random=len(random),
        interval=interval,
        examples=list(_examples(rows, report_data)),
    )


def _files(counts: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    for file, read in counts["rows_read"].items():
        reasons = counts["rejected"].get(file, {})
        refused = sum(reasons.values())
        why = ", ".join(f"{reason} ({count(n)})" for reason, n in reasons.items())
        yield file, count(read - refused), count(refused), why


def _changes(rows: pl.DataFrame) -> tuple[str, ...]:
    shares = (float(rows[column].mean()) for column in ("was", "now"))  # type: ignore[arg-type]
    repaired, broken = rows.filter(was=False, now=True), rows.filter(was=True, now=False)
    return (count(len(rows)), *map(share, shares), count(len(repaired)), count(len(broken)))


def _examples(
    rows: pl.DataFrame, report_data: ReportData
) -> Iterator[tuple[str, int, list[tuple[str, ...]]]]:
    """Yield a caption, how many titles changed so, and some of them."""
    columns = ["raw_title", "occupation_id", "predicted_occupation_id", "answer"]
    for caption, was in (("Right now, wrong before", False), ("Wrong now, right before", True)):
        if len(changed := rows.filter(was=was, now=not was)):
            titles = changed[columns].head(EXAMPLES).iter_rows()
            cells = [(title, *map(report_data.label, answers)) for title, *answers in titles]
            yield caption, len(changed), cells


def reviewers(report_data: ReportData) -> Markup:
    """Make the section of reviewers beside one another; the pipeline's own labels are one, too.

    Two who answered the same title are a pair, which counts for each answer that one of them gave.
    """
    named = pl.when(pl.col("reviewer_id") == "").then(pl.lit(UNNAMED)).otherwise("reviewer_id")
    answers = latest_verdicts(report_data.verdicts).select(
        TITLE,
        "raw_title",
        pl.when("from_labels").then(pl.lit(LABELS)).otherwise(named).alias("reviewer"),
        pl.col("occupation_id").fill_null(NOT_A_JOB_TITLE).alias("answer"),
    )
    both = answers.join(answers, on=TITLE, suffix="_other")
    pairs = both.filter(pl.col("reviewer") != pl.col("reviewer_other")).with_columns(
        same=pl.col("answer") == pl.col("answer_other")
    )
    if pairs.is_empty():
        return section("reviewers", by_reviewer=[])
    # both orders of a pair stand in it: one of them for an answer that both gave
    of_answer = pairs.filter(~pl.col("same") | (pl.col("reviewer") < pl.col("reviewer_other")))
    occupations = of_answer.group_by("answer").agg(*AGREEMENT).sort("agreed", "answer")
    doubtful = occupations.filter(pl.col("agreed") < 1)
    differing = _differing(answers)

    def label(answer: str) -> str:
        return answer if answer == NOT_A_JOB_TITLE else report_data.label(answer)

    return section(
        "reviewers",
        by_reviewer=_by_reviewer(answers, pairs),
        occupations=len(doubtful),
        by_occupation=[
            (label(answer), count(together), share(agreed))
            for answer, together, agreed in doubtful.head(LONGEST).iter_rows()
        ],
        titles=len(differing),
        answers=[
            (title, "; ".join(f"{a['reviewer']}: {label(a['answer'])}" for a in both))
            for title, both in differing.head(LONGEST).iter_rows()
        ],
    )


def _by_reviewer(answers: pl.DataFrame, pairs: pl.DataFrame) -> list[tuple[str, ...]]:
    """Return the titles of each reviewer and the share of pairs in which the other one agrees."""
    frame = (
        answers.group_by("reviewer")
        .agg(titles=pl.len())
        .join(pairs.group_by("reviewer").agg(*AGREEMENT), on="reviewer", how="left")
        .with_columns(pl.col("pairs").fill_null(0))
        .sort("agreed", "reviewer", nulls_last=True)
    )
    return [
        (name, count(titles), count(together), "" if agreed is None else share(agreed))
        for name, titles, together, agreed in frame.iter_rows()
    ]


def _differing(answers: pl.DataFrame) -> pl.DataFrame:
    """Return `raw_title, answers` (list of `reviewer, answer`), most reviewers first."""
    title, kinds = pl.col("raw_title").min(), pl.col("answer").n_unique()
    return (
        answers.sort("reviewer")
        .group_by(TITLE)
        .agg(title, kinds=kinds, answers=pl.struct("reviewer", "answer"))
        .filter(pl.col("kinds") > 1)
        .sort(pl.col("answers").list.len(), "raw_title", descending=[True, False])
        .select("raw_title", "answers")
    )
