"""Feedback files to verdicts: tables of any kind with the columns of `FEEDBACK`.

People's files stand in one folder, beside the file of the stage `simulate_feedback`. Files are read
in chunks: the cells are parsed, a row that cannot be used is refused with a reason, and what leaves
the verdict valid is repaired and counted. Out: schema `VERDICTS`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

import polars as pl

from models.text.titles import clean_title
from tasks.io.formulas import unguarded
from tasks.io.regular_files import boundary, file_fault
from tasks.io.schemas import FEEDBACK, REJECTED, VERDICTS
from tasks.io.title_readings import normalized
from tasks.pipeline.feedback.dates import UNKNOWN, has_slashes, moments, slash_order
from tasks.pipeline.feedback.occupation_ids import REWRITTEN_ID, OccupationIds
from tasks.tables.read_table import read_header, read_table
from tasks.tables.rejected import NOT_ANSWERED, UNKNOWN_OCCUPATION, RejectedRows, empty
from tasks.tables.source_files import IngestError, display_path, is_table, mapped_columns

OWN = Path("data/simulate_feedback/feedback.csv")
OWN_ORIGIN = "Run `dvc repro feedback`: its stage `simulate_feedback` writes it."
ORIGIN = (
    "It lies in the folder that feedback.folder names: correct it or feedback.columns, or take it "
    "out of the folder."
)
NAMED = 3  # rows of a warning
REQUIRED = ("raw_title", "predicted_occupation_id", "matched_title", "verdict")
OPTIONAL = (*(name for name in FEEDBACK if name not in REQUIRED), "chosen_by", "served")
CORRECT, INCORRECT, NOT_A_JOB_TITLE = "correct", "incorrect", "not_a_job_title"
COVERAGE, RANDOM, DISPUTED = "coverage", "random", "disputed"  # how a queue chose a title
ANSWERED, ABSTAINED = "answered", "abstained"  # how the run behind a queue served a title
# words of older files, which are still read
EARLIER_VERDICTS = {"right": CORRECT, "wrong": INCORRECT, "no_job_title": NOT_A_JOB_TITLE}

# Reasons say what is wrong and mostly what to write instead. They hold no value of the row, so that
# equal faults are counted as one; the row's text stands beside them.
BAD_VERDICT = "verdict is unknown: write correct, incorrect or not_a_job_title"
CORRECT_YET_CORRECTED = "correct, yet corrected to another occupation: write incorrect, or empty it"
INCORRECT_YET_CONFIRMED = (
    "incorrect, yet corrected to the predicted occupation: write correct, or another"
)
NO_TITLE_YET_CORRECTED = (
    "not_a_job_title, yet corrected to an occupation: write incorrect, or empty it"
)
NO_PREDICTION = (
    "predicted_occupation_id is empty: write the correct one into corrected_occupation_id, and "
    "incorrect, or not_a_job_title"
)
REPAIRS = {
    "unknown_correction": pl.col("corrected_given") & pl.col("corrected").is_null(),
    "matched_title_replaced": pl.col("owned").is_null() & pl.col("predicted").is_not_null(),
    "answered_without_prediction": pl.col("answers"),
    "verdict_from_correction": pl.col("from_correction"),
    "leading_zeros_restored": pl.any_horizontal("predicted_restored", "corrected_restored"),
    "unknown_prediction": pl.col("predicted_given") & pl.col("predicted").is_null(),
}
"""Repairs, and the rows that need them: an unknown corrected occupation is dropped beside
`incorrect`, an unknown predicted one beside `not_a_job_title`; the label replaces a matched title
that is not in the index; a correction without a prediction becomes `correct` of it."""


def read_feedback(
    folder: Path,
    columns: Mapping[str, str],
    aliases: pl.DataFrame,
    rejected: RejectedRows,
    *,
    from_labels: bool,
) -> tuple[pl.DataFrame, dict[str, int]]:
    """Return the verdicts of all files (schema `VERDICTS`), and how often `REPAIRS` were needed.

    `columns`: our name -> the files' name; `aliases`: schema `SPLIT_ALIASES`; `from_labels`:
    whether the file of `simulate_feedback` is read too. IngestError if a file or column is missing.
    """
    occupations = OccupationIds.of(aliases)
    repairs = Counter(dict.fromkeys(REPAIRS, 0))
    verdicts = [pl.DataFrame(schema=VERDICTS)]
    answers = ~pl.col("predicted_given") & (pl.col("verdict") == INCORRECT)
    keys = ["predicted", "matched"]
    tables = [(path, columns, ORIGIN) for path in files(folder)]
    tables += [(OWN, {}, OWN_ORIGIN)] * from_labels
    for path, named, origin in tables:
        rejected.rows[display_path(path)] += 0  # a file without rows is reported, too
        for chunk in _usable(path, _columns(path, named, origin), origin, occupations, rejected):
            _warn_of_unknown(chunk, display_path(path))
            rows = chunk.with_columns(answers=answers)
            rows = rows.join(occupations.owned, on=keys, how="left", maintain_order="left")
            repairs.update(rows.select(**REPAIRS).sum().row(0, named=True))
            verdicts.append(_repaired(rows, occupations, from_labels=origin == OWN_ORIGIN))
    return pl.concat(verdicts), dict(repairs)


def as_verdicts(rows: pl.DataFrame, *, from_labels: bool) -> pl.DataFrame:
    """Return schema `VERDICTS` of `FEEDBACK` with columns `normalized`, `chosen_by`, `served`."""
    verdict = pl.col("verdict")
    confirmed = pl.when(verdict == CORRECT).then("predicted_occupation_id")
    corrected = pl.when(verdict == INCORRECT).then("corrected_occupation_id")
    return rows.with_columns(
        occupation_id=pl.coalesce(confirmed, corrected),
        reviewer_id=pl.col("reviewer_id").fill_null(""),
        from_labels=pl.lit(from_labels),
    ).select(list(VERDICTS))


def files(folder: Path) -> list[Path]:
    """Return people's files by name, and name those left out; IngestError without a folder."""
    if not folder.is_dir():
        raise IngestError(
            f"{folder} is no folder; feedback.folder names the one that holds people's files, "
            "which may be empty"
        )
    visible = sorted(path for path in folder.iterdir() if is_table(path.name))
    faults = {path: file_fault(path, boundary(folder)) for path in visible if not path.is_dir()}
    for text in filter(None, faults.values()):
        print(f"warning: {text}: not read")
    return [path for path, text in faults.items() if not text]


def _columns(path: Path, named: Mapping[str, str], origin: str) -> dict[str, str]:
    """Map our name to the file's column as its header writes it, by `named` or by its own name."""
    columns = {name: name for name in REQUIRED} | dict(named)
    header = read_header(path, [columns[name] for name in REQUIRED], origin)
    written = defaultdict[str, list[str]](list)
    for name in header:
        written[name.casefold()].append(name)
    columns |= {name: name for name in OPTIONAL if name in written and name not in columns}
    checked = mapped_columns(columns, "feedback.columns", REQUIRED, OPTIONAL)
    for ours, theirs in checked.items():
        alike = written[theirs.casefold()]
        if theirs not in header and len(alike) > 1:
            twice = f"the column {theirs!r} more than once, as {alike}"
            raise IngestError(f"{path} has {twice}. {origin}")
        if theirs not in header and alike:
            checked[ours] = alike[0]
    return checked


def _usable(
    path: Path,
    columns: Mapping[str, str],
    origin: str,
    occupations: OccupationIds,
    rejected: RejectedRows,
) -> Iterator[pl.DataFrame]:
    """Yield the usable rows of a file in chunks, and refuse the others."""
    order: str | None = None
    absent = [pl.lit("").alias(name) for name in (*REQUIRED, *OPTIONAL) if name not in columns]
    for chunk in read_table(path, columns, origin, rejected):
        if order is None and "judged_at" in columns and has_slashes(chunk.values["judged_at"]):
            dates = read_table(path, {"judged_at": columns["judged_at"]}, origin, RejectedRows())
            order = slash_order(part.values["judged_at"] for part in dates)
        rows = pl.concat([chunk.places, chunk.values.with_columns(absent)], how="horizontal")
        read = _read_cells(rows, occupations, order or UNKNOWN)
        marked = read.with_columns(reason=_fault(), file=pl.lit(display_path(path)), row="text")
        rejected.rows[display_path(path)] += len(marked)
        rejected.refuse_all(marked.drop_nulls("reason").select(list(REJECTED)))
        yield marked.filter(pl.col("reason").is_null())


def _read_cells(chunk: pl.DataFrame, occupations: OccupationIds, order: str) -> pl.DataFrame:
    """Parse the cells of a chunk: verdicts, ids, titles and times as they are meant.

    A `'` before a formula is removed (`tasks/io/formulas.py`). An empty verdict follows from the
    correction, `from_correction`. `order` is that of day and month between slashes.
    """
    others = (chunk[name].str.strip_chars() for name in FEEDBACK if name != "raw_title")
    stripped = (unguarded(cells).str.strip_chars() for cells in others)
    # the white space of a title stays
    frame = chunk.with_columns(unguarded(chunk["raw_title"]), *stripped)
    times, bad_times = moments(frame["judged_at"], order)
    matched = {title: clean_title(title) for title in frame["matched_title"].unique()}
    verdict = pl.col("verdict").str.to_lowercase().str.replace_all(r"[\s_]+", "_")
    read = frame.with_columns(
        *_occupation(frame, "predicted", occupations),
        *_occupation(frame, "corrected", occupations),
        normalized(frame["raw_title"]),
        _by_text("matched_title", matched).alias("matched"),
        _by_text("judged_at", times).alias("at"),
        _by_text("judged_at", bad_times).alias("at_fault"),
        verdict=verdict.replace(EARLIER_VERDICTS),
    )
    silent, implied = pl.col("verdict") == "", pl.col("corrected_given")
    same = pl.col("corrected") == pl.col("predicted")
    by_correction = pl.when(same).then(pl.lit(CORRECT)).otherwise(pl.lit(INCORRECT))
    return read.with_columns(
        says_nothing=silent & ~implied,
        from_correction=silent & implied,
        verdict=pl.when(silent & implied).then(by_correction).otherwise("verdict"),
    )


def _occupation(frame: pl.DataFrame, name: str, occupations: OccupationIds) -> list[pl.Expr]:
    """Return the columns `NAME`, `NAME_given`, `NAME_fault` and `NAME_restored`."""
    column = f"{name}_occupation_id"
    ids = occupations.look_up(frame[column].unique())
    return [
        _by_text(column, ids.known).alias(name),
        (pl.col(column) != "").alias(f"{name}_given"),
        _by_text(column, ids.faults).alias(f"{name}_fault"),
        pl.col(column).is_in(ids.restored).alias(f"{name}_restored"),
    ]


def _by_text(column: str, values: dict[str, str]) -> pl.Expr:
    """Put for each text its value; null where it has none."""
    return pl.col(column).replace_strict(values, default=None, return_dtype=pl.String)


def _fault() -> pl.Expr:
    """Name the first reason to refuse a row of `_read_cells`; null if there is none."""
    verdict = pl.col("verdict")
    predicted, corrected = pl.col("predicted").is_not_null(), pl.col("corrected").is_not_null()
    confirmed = pl.col("corrected").eq_missing(pl.col("predicted"))
    ids = pl.concat_list("predicted_fault", "corrected_fault")
    # an unknown correction matters if the verdict depends on it alone
    correction_is_all = pl.col("from_correction") | ~pl.col("predicted_given")
    unknown = (pl.col("predicted_given") & ~predicted) | (correction_is_all & ~corrected)
    corrected_given, of_prediction = pl.col("corrected_given"), verdict != NOT_A_JOB_TITLE
    reasons = {
        NOT_ANSWERED: pl.col("says_nothing"),
        empty("raw_title"): pl.col("normalized") == "",  # signs alone are no title
        BAD_VERDICT: ~verdict.is_in([CORRECT, INCORRECT, NOT_A_JOB_TITLE]),
        NO_TITLE_YET_CORRECTED: ~of_prediction & corrected_given,
        REWRITTEN_ID: of_prediction & ids.list.contains(REWRITTEN_ID),
        NO_PREDICTION: of_prediction
        & ~pl.col("predicted_given")
        & ~((verdict == INCORRECT) & corrected_given),
        UNKNOWN_OCCUPATION: of_prediction & unknown,
        CORRECT_YET_CORRECTED: (verdict == CORRECT) & corrected_given & ~confirmed,
        INCORRECT_YET_CONFIRMED: (verdict == INCORRECT) & corrected_given & predicted & confirmed,
    }
    cases = [pl.when(holds).then(pl.lit(reason)) for reason, holds in reasons.items()]
    return pl.coalesce("fault", *cases, "at_fault")


def _repaired(rows: pl.DataFrame, occupations: OccupationIds, *, from_labels: bool) -> pl.DataFrame:
    """Return faultless rows, with what `REPAIRS` look at, as schema `VERDICTS`."""
    chosen_by, served = (
        pl.col(name).str.strip_chars().str.to_lowercase() for name in ("chosen_by", "served")
    )
    is_served = (served == ABSTAINED) | (pl.col("predicted_given") & (served == ANSWERED))
    predicted = pl.when("answers").then("corrected").otherwise("predicted")
    label = predicted.replace_strict(occupations.labels, default=None, return_dtype=pl.String)
    is_corrected = (pl.col("verdict") == INCORRECT) & ~pl.col("answers")
    repaired = rows.with_columns(
        predicted_occupation_id=predicted,
        matched_title=pl.when("owned").then("matched").otherwise(label),
        corrected_occupation_id=pl.when(is_corrected).then("corrected"),
        verdict=pl.when("answers").then(pl.lit(CORRECT)).otherwise("verdict"),
        judged_at="at",
        chosen_by=chosen_by,
        served=pl.when(is_served).then(served),
    )
    columns = (*FEEDBACK, "normalized", "chosen_by", "served")
    filled = (pl.when(pl.col(name) != "").then(name).alias(name) for name in columns)
    return as_verdicts(repaired.select(filled), from_labels=from_labels)


def _warn_of_unknown(rows: pl.DataFrame, file: str) -> None:
    """Name the corrections to an occupation that the taxonomy does not have."""
    unknown = rows.filter(REPAIRS["unknown_correction"]).select("line", "corrected_occupation_id")
    for line, occupation_id in unknown.head(NAMED).iter_rows():
        print(
            f"warning: {file}, line {line}: the taxonomy has no occupation {occupation_id!r}, so "
            "the row counts as incorrect without a correction"
        )
    if len(unknown) > NAMED:
        print(f"warning: {file}: and {len(unknown) - NAMED:,} more such rows")
