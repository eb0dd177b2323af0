"""Stage `feedback`: people's verdicts on predictions, and one resolution of each prediction.

In: the files in `feedback.folder`, `data/simulate_feedback/feedback.csv`, the aliases, all queries,
and what the mixes before train on. Out, in `data/feedback/`: `verdicts`, `resolutions` (to learn
from or held out), `queries` for the gate alone, `overrides` for the registered model,
`rejected.parquet` and counts. Neculoiu et al. 2016, section 4.2, point 4.
"""

from __future__ import annotations

from collections.abc import Container
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

import polars as pl
from pydantic import AfterValidator

from tasks.io import schemas
from tasks.io.command import run
from tasks.io.files import write_json
from tasks.io.frames import read_frame, write_frame
from tasks.io.mixes import SOURCES, queried_strings, training_variants
from tasks.io.section import Section, Share, load
from tasks.pipeline.feedback.held_out import gate_queries, held_out
from tasks.pipeline.feedback.reader import read_feedback
from tasks.pipeline.feedback.resolution import overrides, resolve
from tasks.tables.rejected import NOTICES, RejectedRows
from tasks.tables.source_files import IngestError

FOLDER = Path("data/feedback")
QUOTED_ROWS = 3  # refused rows that a message quotes


def local(folder: str) -> str:
    """Return a folder that lies here; ValueError if it is an address."""
    if "://" in folder:
        raise ValueError(
            f"{folder} is an address: name it in the profile, `external: {{reviewed: {folder}}}`, "
            "and set feedback.folder: data/external/reviewed"
        )
    return folder


class FeedbackParams(Section):
    """Section `feedback`: where people's verdicts stand, and which are kept from training."""

    NAME: ClassVar[str] = "feedback"
    reader: Literal["table"]
    folder: Annotated[str, AfterValidator(local)]
    from_labels: bool
    columns: dict[str, str]
    max_rejected_share: Share
    gate_share: Share


class Feedback(NamedTuple):
    """Frames of schemas `VERDICTS`, `RESOLUTIONS`, `QUERIES` and `OVERRIDES`, and all counts."""

    verdicts: pl.DataFrame
    resolutions: pl.DataFrame
    queries: pl.DataFrame
    overrides: pl.DataFrame
    counts: dict[str, Any]


def feedback(
    params: FeedbackParams,
    aliases: pl.DataFrame,
    queries: Container[str],
    trained: Container[str],
    rejected: RejectedRows,
) -> Feedback:
    """Read the files and resolve them; rows that cannot be used are put into `rejected`.

    `queries`: normalized strings, which no resolution may hold; `trained`: those that the mixes
    before learn from. IngestError if a file or a column is missing, or `columns` does not fit.
    """
    read, folder = {"from_labels": params.from_labels}, Path(params.folder)
    verdicts, repairs = read_feedback(folder, params.columns, aliases, rejected, **read)
    verdicts = verdicts.sort("normalized", pl.all().exclude("normalized"), nulls_last=True)
    resolutions, of_queries, resolved = resolve(verdicts, aliases, queries)
    is_held_out = held_out(resolutions["normalized"], verdicts, params.gate_share, trained)
    learned = pl.when(~is_held_out).then("matched_title")
    marked = resolutions.with_columns(is_held_out, matched_title=learned)
    gate = gate_queries(marked, verdicts, aliases)
    fixed = overrides(pl.concat([resolutions, of_queries]), verdicts, aliases)
    answers = fixed.filter("correct")
    counts: dict[str, Any] = {
        "rows_read": dict(rejected.rows),
        "rejected": rejected.by_file(),
        "repairs": repairs,
        "held_out": marked.filter("held_out")["normalized"].n_unique(),
        "gate_queries": len(gate),
        "trained": marked["matched_title"].count(),
        "overrides": len(answers),
        "not_job_titles": answers["occupation_id"].null_count(),
        "rejected_answers": len(fixed) - len(answers),
        **resolved,
    }
    return Feedback(verdicts, marked, gate, fixed, counts)


def require_usable(
    counts: dict[str, Any], rejected: RejectedRows, max_rejected_share: float
) -> None:
    """Refuse a file with more faulty rows than `max_rejected_share`, with an IngestError."""
    for file, read in counts["rows_read"].items():
        reasons = counts["rejected"].get(file, {}).items()
        errors = sum(count for reason, count in reasons if reason not in NOTICES)
        if errors > max_rejected_share * read:
            faults = rejected.frame().filter(~pl.col("reason").is_in(list(NOTICES)), file=file)
            quotes = faults["line", "reason", "row"].head(QUOTED_ROWS).rows()
            quoted = "".join(f"\n  line {at}: {why}: {row[:80]}" for at, why, row in quotes)
            raise IngestError(
                f"{errors} of {read} rows of {file} cannot be used, more than "
                f"feedback.max_rejected_share = {max_rejected_share:g}, so it looks like a wrong "
                f"file:{quoted}\nCorrect it or remove it, then run the same again. All refused "
                f"rows: {_rejected_file()}"
            )


def summary(counts: dict[str, Any]) -> list[str]:
    """Describe the use of the rows in a few lines."""
    lines = []
    for file, read in counts["rows_read"].items():
        reasons = counts["rejected"].get(file, {}).items()
        left = [f"{count} {reason}" for reason, count in reasons if reason in NOTICES]
        if faults := [(count, reason) for reason, count in reasons if reason not in NOTICES]:
            counted = ", ".join(f"{count} × {reason}" for count, reason in faults)
            left.append(f"{sum(count for count, _ in faults)} refused ({counted})")
        lines.append(f"{file}: {read} rows, {', '.join(left) or 'all taken'}")
    return [
        *lines,
        f"not learned from: {counts['query']} on titles that a test asks, "
        f"{counts['contradicts_taxonomy']} against the taxonomy, {counts['duplicate']} repeated, "
        f"{counts['outdated']} outdated",
        f"{counts['predictions']} predictions with a verdict: {counts['correct']} correct, "
        f"{counts['incorrect']} incorrect ({counts['corrected']} corrected), "
        f"{counts['unresolved']} undecided; reviewers differed on {counts['conflicts']}",
        f"{counts['trained']} predictions to train on; {counts['gate_queries']} titles for the "
        f"gate; {counts['overrides']} overrides, {counts['not_job_titles']} of them not job "
        f"titles; {counts['rejected_answers']} answers that are not given again",
        *([f"refused rows: {_rejected_file()}"] if counts["rejected"] else []),
    ]


def _rejected_file() -> Path:
    """Return where the refused rows are, from any folder: a profile's run is in a workspace."""
    return (FOLDER / "rejected.parquet").resolve()


def main() -> None:
    """Run the stage on its files; rejected rows are written even if it fails."""
    params, rejected = load(FeedbackParams), RejectedRows()
    aliases = read_frame(Path("data/split/aliases.parquet"), schemas.SPLIT_ALIASES)
    auxiliary = read_frame(Path("data/auxiliary_taxonomy/titles.parquet"), schemas.AUXILIARY_TITLES)
    variants = (training_variants(source) for source in SOURCES)
    trained = {name for of in (aliases, auxiliary, *variants) for name in of["normalized"]}
    made = feedback(params, aliases, queried_strings(), trained, rejected)
    print(*rejected.read_as(), sep="\n")
    write_frame(rejected.frame(), FOLDER / "rejected.parquet", schemas.REJECTED)
    require_usable(made.counts, rejected, params.max_rejected_share)
    write_frame(made.verdicts, FOLDER / "verdicts.parquet", schemas.VERDICTS)
    write_frame(made.resolutions, FOLDER / "resolutions.parquet", schemas.RESOLUTIONS)
    write_frame(made.queries, FOLDER / "queries.parquet", schemas.QUERIES)
    write_frame(made.overrides, FOLDER / "overrides.parquet", schemas.OVERRIDES)
    write_json(made.counts, FOLDER / "metrics.json")
    print("\n".join(summary(made.counts)))


if __name__ == "__main__":
    run(main)
