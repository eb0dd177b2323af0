"""Feedback on predictions to verdicts without conflicts, for mixes that learn from people.

In: the files in `feedback.folder`, `data/simulate_feedback/feedback.csv`, the aliases, all queries,
and what the mixes before train on. Out, in `data/feedback/`: `verdicts.parquet` to train on,
`queries.parquet` for the gate alone, `judged.parquet`, `reviews.parquet`, `overrides.parquet`,
`rejected.parquet` and counts. Neculoiu et al. 2016, section 4.2, point 4.
"""

from __future__ import annotations

from collections.abc import Container
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from tasks.io.command import run
from tasks.io.frames import read_frame, write_frame, write_json
from tasks.io.mixes import SOURCES, training_variants
from tasks.io.queries import queried_strings
from tasks.io.schemas import (
    AUXILIARY_TITLES,
    JUDGED,
    OVERRIDES,
    QUERIES,
    REJECTED,
    REVIEWS,
    SPLIT_ALIASES,
    VERDICTS,
)
from tasks.io.section import load
from tasks.pipeline.feedback.held_out import gate_queries, held_out
from tasks.pipeline.feedback.params import FeedbackParams
from tasks.pipeline.feedback.reader import read_feedback
from tasks.pipeline.feedback.reviews import overrides, reviews
from tasks.pipeline.feedback.verdicts import resolve
from tasks.tables.rejected import NOTICES, RejectedRows
from tasks.tables.source_files import IngestError

FOLDER = Path("data/feedback")
QUOTED_ROWS = 3
"""Refused rows that a message quotes."""


class Judged(NamedTuple):
    """The frames to write, all counts, and how each file was read."""

    verdicts: pl.DataFrame
    queries: pl.DataFrame
    judged: pl.DataFrame
    reviews: pl.DataFrame
    overrides: pl.DataFrame
    rejected: pl.DataFrame
    counts: dict[str, Any]
    read_as: list[str]


def feedback(
    params: FeedbackParams, aliases: pl.DataFrame, queries: Container[str], trained: Container[str]
) -> Judged:
    """Read the files and resolve them; rows that cannot be used are in `rejected`.

    `aliases`: schema `SPLIT_ALIASES`; `queries`: normalized strings of all queries, which no
    verdict may hold; `trained`: normalized strings that the mixes before learn from.

    Raises:
        IngestError: a file or a column is missing, or `feedback.columns` does not fit.
    """
    rejected_rows = RejectedRows()
    feedback_rows, repairs = read_feedback(params, aliases, rejected_rows)
    predictions = feedback_rows.drop_nulls("predicted_occupation_id")
    resolved = resolve(predictions, aliases, queries)
    judged_titles = reviews(feedback_rows)
    is_held_out = held_out(resolved.outcomes, judged_titles, params.gate_share, trained)
    judged = resolved.outcomes.with_columns(is_held_out)
    kept_back = judged.filter("held_out")["normalized"].unique()
    verdicts = resolved.verdicts.filter(~pl.col("normalized").is_in(kept_back.to_list()))
    gate = gate_queries(judged, judged_titles, aliases)
    fixed = overrides(pl.concat([resolved.outcomes, resolved.of_queries]), judged_titles, aliases)
    answers = fixed.filter("correct")
    counts = {
        "rows_read": dict(rejected_rows.rows),
        "rejected": rejected_rows.by_file(),
        "repairs": repairs,
        "held_out": len(kept_back),
        "gate_queries": len(gate),
        "trained": len(verdicts),
        "overrides": len(answers),
        "not_job_titles": answers["occupation_id"].null_count(),
        "rejected_answers": len(fixed) - len(answers),
        **resolved.counts,
    }
    return Judged(
        verdicts,
        gate,
        judged,
        judged_titles,
        fixed,
        rejected_rows.frame(),
        counts,
        rejected_rows.read_as(),
    )


def require_usable(judged: Judged, max_rejected_share: float) -> None:
    """Refuse a file that is not what it should be; a few bad rows are left out and no more.

    Raises:
        IngestError: more faulty rows than `max_rejected_share` of all rows of one file.
    """
    for file, read in judged.counts["rows_read"].items():
        reasons = judged.counts["rejected"].get(file, {})
        errors = sum(count for reason, count in reasons.items() if reason not in NOTICES)
        if errors > max_rejected_share * read:
            rows = judged.rejected.filter(file=file).filter(~pl.col("reason").is_in(list(NOTICES)))
            quoted = "".join(
                f"\n  line {line}: {reason}: {row[:80]}"
                for line, reason, row in rows.head(QUOTED_ROWS)
                .select("line", "reason", "row")
                .rows()
            )
            raise IngestError(
                f"{errors} of {read} rows of {file} cannot be used, more than "
                f"feedback.max_rejected_share = {max_rejected_share:g}, so it looks like a wrong "
                f"file:{quoted}\nCorrect it or remove it, then run the same again. All refused "
                f"rows: {rejected_file()}"
            )


def rejected_file() -> Path:
    """Return where the refused rows are, from any folder: a profile's run is in a workspace."""
    return (FOLDER / "rejected.parquet").resolve()


def summary(counts: dict[str, Any]) -> list[str]:
    """Describe the use of the rows in a few lines."""
    lines = []
    for file, read in counts["rows_read"].items():
        reasons = counts["rejected"].get(file, {})
        faults = {reason: count for reason, count in reasons.items() if reason not in NOTICES}
        left = [f"{count} {reason}" for reason, count in reasons.items() if reason in NOTICES]
        if faults:
            counted = ", ".join(f"{count} × {reason}" for reason, count in faults.items())
            left.append(f"{sum(faults.values())} refused ({counted})")
        lines.append(f"{file}: {read} rows, {', '.join(left) or 'all taken'}")
    return [
        *lines,
        f"not learned from: {counts['query']} on titles that a test asks, "
        f"{counts['contradicts_taxonomy']} against the taxonomy, {counts['duplicate']} repeated, "
        f"{counts['outdated']} outdated",
        f"{counts['predictions']} predictions judged: {counts['correct']} correct, "
        f"{counts['incorrect']} incorrect ({counts['corrected']} corrected), "
        f"{counts['unresolved']} undecided; reviewers differed on {counts['conflicts']}",
        f"{counts['trained']} verdicts to train on; {counts['gate_queries']} titles for the gate; "
        f"{counts['overrides']} overrides, {counts['not_job_titles']} of them not job titles; "
        f"{counts['rejected_answers']} answers that are not given again",
        *([f"refused rows: {rejected_file()}"] if counts["rejected"] else []),
    ]


def trained_strings(aliases: pl.DataFrame) -> set[str]:
    """Return all titles of both taxonomies and the variants that the mixes before train on."""
    variants = [training_variants(source)["normalized"] for source in SOURCES]
    auxiliary = read_frame(Path("data/auxiliary_taxonomy/titles.parquet"), AUXILIARY_TITLES)
    return set(pl.concat([aliases["normalized"], auxiliary["normalized"], *variants]))


def main() -> None:
    """Run the stage on its files; rejected rows are written even if it fails."""
    params = load(FeedbackParams)
    aliases = read_frame(Path("data/split/aliases.parquet"), SPLIT_ALIASES)
    judged = feedback(params, aliases, queried_strings(), trained_strings(aliases))
    print(*judged.read_as, sep="\n")
    write_frame(judged.rejected, FOLDER / "rejected.parquet", REJECTED)
    require_usable(judged, params.max_rejected_share)
    write_frame(judged.verdicts, FOLDER / "verdicts.parquet", VERDICTS)
    write_frame(judged.queries, FOLDER / "queries.parquet", QUERIES)
    write_frame(judged.judged, FOLDER / "judged.parquet", JUDGED)
    write_frame(judged.reviews, FOLDER / "reviews.parquet", REVIEWS)
    write_frame(judged.overrides, FOLDER / "overrides.parquet", OVERRIDES)
    write_json(judged.counts, FOLDER / "metrics.json")
    print("\n".join(summary(judged.counts)))


if __name__ == "__main__":
    run(main)
