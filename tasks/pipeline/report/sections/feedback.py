"""People's feedback: rows taken and refused, their use, and the network's answers before and now.

*Before* is the verdict on the judged answer, *now* the answer of the report's network. The tables
separate titles that it was trained on from those that only the gate queries. Titles that a review
queue drew at random estimate the accuracy on people's inputs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import polars as pl

from models.metrics.intervals import bootstrap_interval
from models.reproducibility.seeding import child_seed
from tasks.pipeline.feedback.feedback_rows.cells import RANDOM
from tasks.pipeline.feedback.held_out import chosen_as
from tasks.pipeline.report.markup import Html, NumberHead, lines, paragraph, table, tag
from tasks.pipeline.report.names import count, counted, share, with_interval
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


def feedback(report_data: ReportData) -> Html:
    """Make the content of section `feedback`."""
    counts = report_data.feedback
    if counts is None:
        return paragraph("This mix learns from no feedback.")
    return lines(
        paragraph(
            "Verdicts of people, and of labels where the pipeline judges itself. Rows that cannot "
            "be used are left out; data/feedback/rejected.parquet has them, with reasons."
        ),
        _files(counts),
        *_counts(counts),
        *_before_and_now(report_data),
    )


def _files(counts: dict[str, Any]) -> Html:
    rows = []
    for file, read in counts["rows_read"].items():
        reasons = counts["rejected"].get(file, {})
        refused = sum(reasons.values())
        why = ", ".join(f"{reason} ({count(n)})" for reason, n in reasons.items())
        rows.append((file, count(read - refused), count(refused), why))
    if not rows:
        return paragraph("There was no file of feedback.")
    head = ("File", NumberHead("Rows taken"), NumberHead("Refused"), "Why")
    return table("Files of feedback", head, rows)


def _counts(counts: dict[str, Any]) -> Iterator[Html]:
    for caption, meaning, values in (
        ("Use of the rows that were taken", ROWS, counts),
        ("Repairs", REPAIRS, counts["repairs"]),
        ("Verdicts on the predictions, conflicts resolved", PREDICTIONS, counts),
        ("Use of the verdicts", USES, counts),
    ):
        rows = [(words, count(values[name])) for name, words in meaning.items()]
        yield table(caption, ("", NumberHead("Count")), rows)


def _before_and_now(report_data: ReportData) -> Iterator[Html]:
    judged = report_data.judged.drop_nulls("occupation_id")
    if judged.is_empty():
        yield paragraph("Of no judged title the right occupation is known.")
        return
    occupations = report_data.search.index.occupations
    answers = [
        occupations[first]
        for _, hits in report_data.search.blocks(judged["cleaned"].to_list(), 1)
        for first in hits.occupations[:, 0]
    ]
    answer = pl.Series("answer", answers, pl.String)
    rows = judged.with_columns(
        answer, was=pl.col("resolution") == "correct", now=answer == judged["occupation_id"]
    )
    head = ("", *map(NumberHead, ("Titles", "Right before", "Right now", "Repaired", "Broken")))
    kinds = (("learned from", False), ("kept for the gate", True))
    parts = [(name, rows.filter(held_out=held_out)) for name, held_out in kinds]
    changes = [(name, *_changes(part)) for name, part in parts if len(part)]
    yield table("Judged titles with a known occupation, before and now", head, changes)
    yield _of_random_rows(rows, report_data)
    for caption, was in (("Right now, wrong before", False), ("Wrong now, right before", True)):
        changed = rows.filter(was=was, now=not was)
        if len(changed):
            yield _examples(f"{caption}: {counted(len(changed), 'title')}", changed, report_data)


def _of_random_rows(rows: pl.DataFrame, report_data: ReportData) -> Html:
    """Estimate the accuracy on people's inputs; `rows`: judged titles, with `now`."""
    drawn = chosen_as(report_data.reviews, RANDOM)
    titles = rows.filter(pl.col("normalized").is_in(drawn.implode())).unique("normalized")
    if titles.is_empty():
        return paragraph(
            "No reviewed title was drawn at random, so the accuracy on people's inputs is unknown: "
            "a queue prefers titles that are likely wrong."
        )
    params = report_data.params
    seed = child_seed(params.seed, "report", "random_rows")
    right = titles["now"].cast(pl.Float64).to_numpy()
    draws = params.evaluate.bootstrap_draws
    interval = asdict(bootstrap_interval(right, draws, seed))
    return paragraph(
        f"Of {counted(len(titles), 'title')} of random inputs the network answers ",
        tag("strong", f"{with_interval(interval['value'], interval)} correctly"),
        " (95 % interval). This alone estimates the accuracy on people's inputs without bias; the "
        "other judged titles were chosen because they help, or by whoever made the file. Exact "
        "matches with reviewed titles come on top.",
    )


def _changes(rows: pl.DataFrame) -> tuple[str, ...]:
    shares = (float(rows[column].mean()) for column in ("was", "now"))  # type: ignore[arg-type]
    repaired, broken = rows.filter(was=False, now=True), rows.filter(was=True, now=False)
    return (count(len(rows)), *map(share, shares), count(len(repaired)), count(len(broken)))


def _examples(caption: str, rows: pl.DataFrame, report_data: ReportData) -> Html:
    columns = ("raw_title", "occupation_id", "predicted_occupation_id", "answer")
    cells = [
        (title, *map(report_data.label, occupations))
        for title, *occupations in rows.head(EXAMPLES).select(columns).iter_rows()
    ]
    return table(caption, ("Title", "Right occupation", "Before", "Now"), cells)
