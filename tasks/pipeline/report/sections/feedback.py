"""People's feedback: rows taken and refused, their use, and the network's answers before and now.

*Before* is the verdict on the judged answer, *now* the answer of the report's network. The tables
separate titles that it was trained on from those that only the gate queries.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl

from models.ranking.index import AliasIndex
from models.ranking.search import Search
from tasks.pipeline.report.markup import Html, number, number_head, paragraph, section, table
from tasks.pipeline.report.names import count, counted, share
from tasks.pipeline.report.report_data import ReportData

HEADING = ("feedback", "Feedback")
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
    "held_out": "titles kept from training, by their hash",
    "gate_queries": "of these, queries of the gate: the right occupation is known",
    "overrides": "titles whose answer reviewers have fixed",
    "not_job_titles": "of these, not job titles",
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
    """Make section `feedback`."""
    counts = report_data.made["pairs"].get("feedback")
    if counts is None:
        return section(*HEADING, paragraph("This mix learns from no feedback."))
    return section(
        *HEADING,
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
        rows.append((file, number(count(read - refused)), number(count(refused)), why))
    if not rows:
        return paragraph("There was no file of feedback.")
    head = ("File", number_head("Rows taken"), number_head("Refused"), "Why")
    return table("Files of feedback", head, rows)


def _counts(counts: dict[str, Any]) -> Iterator[Html]:
    repairs = {name: counts["repairs"][name] for name in REPAIRS}
    for caption, meaning, values in (
        ("Use of the rows that were taken", ROWS, counts),
        ("Repairs", REPAIRS, repairs),
        ("Verdicts on the predictions, conflicts resolved", PREDICTIONS, counts),
        ("Use of the verdicts", USES, counts),
    ):
        rows = [(words, number(count(values[name]))) for name, words in meaning.items()]
        yield table(caption, ("", number_head("Count")), rows)


def _before_and_now(report_data: ReportData) -> Iterator[Html]:
    judged = report_data.judged.drop_nulls("occupation_id")
    if judged.is_empty():
        yield paragraph("Of no judged title the right occupation is known.")
        return
    rows = judged.with_columns(
        pl.Series("answer", answers(report_data, judged["cleaned"].to_list()), dtype=pl.String),
        was=pl.col("resolution") == "correct",
    ).with_columns(now=pl.col("answer") == pl.col("occupation_id"))
    head = ("", *map(number_head, ("Titles", "Right before", "Right now", "Repaired", "Broken")))
    kinds = {
        "learned from": rows.filter(~pl.col("held_out")),
        "kept for the gate": rows.filter("held_out"),
    }
    lines = [(name, *map(number, _changes(part))) for name, part in kinds.items() if len(part)]
    yield table("Judged titles with a known occupation, before and now", head, lines)
    for caption, was in (("Right now, wrong before", False), ("Wrong now, right before", True)):
        changed = rows.filter((pl.col("was") == was) & (pl.col("now") != was))
        if len(changed):
            yield _examples(f"{caption}: {counted(len(changed), 'title')}", changed, report_data)


def answers(report_data: ReportData, titles: list[str]) -> list[str]:
    """Return the best occupation of each cleaned title, the first by id of equal ones."""
    names = report_data.index.explode("occupation_ids")
    index = AliasIndex.of(names["title"].to_list(), names["occupation_ids"].to_list())
    place = {title: row for row, title in enumerate(report_data.index["title"])}
    aliases = report_data.index_embeddings[[place[title] for title in index.titles]]
    known = np.concatenate([aliases, report_data.embed(report_data.evidence.titles)]).T
    search = Search(
        index,
        lambda some: report_data.embed(some) @ known,
        report_data.params.evaluate.rule,
        report_data.evidence,
    )
    return [
        index.occupations[occupation]
        for _, hits in search.blocks(titles, 1)
        for occupation in hits.occupations[:, 0].tolist()
    ]


def _changes(rows: pl.DataFrame) -> tuple[str, ...]:
    was, now = rows["was"], rows["now"]
    shares = (float(values.mean()) for values in (was, now))  # type: ignore[arg-type]
    return (
        count(len(rows)),
        *map(share, shares),
        count(int((~was & now).sum())),
        count(int((was & ~now).sum())),
    )


def _examples(caption: str, rows: pl.DataFrame, report_data: ReportData) -> Html:
    shown = [
        (
            row["raw_title"],
            report_data.label(row["occupation_id"]),
            report_data.label(row["predicted_occupation_id"]),
            report_data.label(row["answer"]),
        )
        for row in rows.head(EXAMPLES).iter_rows(named=True)
    ]
    return table(caption, ("Title", "Right occupation", "Before", "Now"), shown)
