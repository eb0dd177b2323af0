"""Manual synonyms: `table`, a CSV, TSV or Parquet file, or `thesaurus`, lines `a, b, c => d`.

The table has the columns `term` and `synonym`, one pair a row. The thesaurus (Thesaurus of Job
Titles, a public repository) has one term a line: on the right its name as an identifier, with
underscores for spaces, on the left all its names, its own mostly among them. A line with no other
name is right as it stands and gives no pair. Where the identifier is one of the names with "jobs"
put behind it ("access, access services => access_jobs"), that name is the term.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from models.text.titles import normalize_title
from tasks.readers.outside import IngestError
from tasks.readers.rejected import DUPLICATE_ROW, NOTICES, Ledger, Row, empty
from tasks.readers.rows import table_rows
from tasks.readers.text import line_rows

ORIGIN = (
    "It is the file that you named in synonyms.file: correct the name, or bring it to "
    "data/external/ with `dvc import-url` as docs/SOURCES.md shows."
)

if TYPE_CHECKING:
    from tasks.synonyms import SynonymsParams
COLUMNS = {"term": "term", "synonym": "synonym"}
SAME = "term and synonym are the same"
BAD_ARROW = "not exactly one =>"
ARROW = "=>"
SUFFIX = " jobs"


def read_synonyms(params: SynonymsParams, ledger: Ledger) -> list[tuple[str, str]]:
    """Read pairs (term, synonym) of normalized phrases, in the order of the file.

    A pair means both directions and stands once, whichever way round the file repeats it.

    Args:
        params: section `synonyms`; `reader` and `file` are used.
        ledger: takes the refused rows.

    Raises:
        IngestError: the file or a column is missing.
    """
    path = Path(params.file)
    rows = _table(path, ledger) if params.reader == "table" else _thesaurus(path, ledger)
    pairs: dict[frozenset[str], tuple[str, str]] = {}
    for row, term, synonym in rows:
        reason = _fault(term, synonym)
        if not reason and frozenset((term, synonym)) in pairs:
            reason = DUPLICATE_ROW
        if reason:
            ledger.refuse(row, reason)
        else:
            pairs[frozenset((term, synonym))] = (term, synonym)
    return list(pairs.values())


def require_few_refused(ledger: Ledger, max_rejected_share: float) -> None:
    """Refuse a manual set that is mostly something else.

    Raises:
        IngestError: more faulty rows than `max_rejected_share` of all rows read.
    """
    reasons, read = ledger.reasons(), sum(ledger.rows.values())
    errors = sum(count for reason, count in reasons.items() if reason not in NOTICES)
    if errors > max_rejected_share * read:
        raise IngestError(
            f"{errors} rows of the synonyms were rejected, {read} were read: more than "
            f"synonyms.max_rejected_share = {max_rejected_share:g}: {reasons}. Look at "
            f"data/synonyms/rejected.parquet; mend the file, check synonyms.reader, or raise the "
            "parameter."
        )


def _fault(term: str, synonym: str) -> str:
    if not term:
        return empty("term")
    if not synonym:
        return empty("synonym")
    return SAME if term == synonym else ""


def _table(path: Path, ledger: Ledger) -> Iterator[tuple[Row, str, str]]:
    for row in table_rows(path, COLUMNS, ORIGIN, ledger):
        yield row, normalize_title(row["term"]), normalize_title(row["synonym"])


def _thesaurus(path: Path, ledger: Ledger) -> Iterator[tuple[Row, str, str]]:
    for row in line_rows(path, "line", ORIGIN, ledger):
        left, *right = row["line"].split(ARROW)
        if len(right) != 1:
            ledger.refuse(row, BAD_ARROW)
            continue
        names = [normalize_title(name) for name in left.split(",")]
        term = normalize_title(right[0].replace("_", " "))
        if term not in names and term.removesuffix(SUFFIX) in names:
            term = term.removesuffix(SUFFIX)
        if term in names:
            names.remove(term)
        for name in names:
            yield row, term, name
