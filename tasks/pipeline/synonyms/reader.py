"""Manual synonyms: a `table` of pairs, a `thesaurus` with lines `a, b, c => d`, or `none`.

The table has the columns `term` and `synonym`. The thesaurus (Thesaurus of Job Titles, a public
repository) has one term a line: on the right its name as an identifier, with underscores for
spaces, on the left all its names, mostly with its own. A line with no other name gives no pair. If
the identifier is one of the names with "jobs" behind it ("access => access_jobs"), the term is that
name.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from models.text.titles import normalize_title
from tasks.pipeline.synonyms.params import SynonymsParams
from tasks.tables.read_table import read_rows
from tasks.tables.rejected import DUPLICATE_ROW, RejectedRows, Row, empty
from tasks.tables.source_files import mapped_columns
from tasks.tables.text import line_rows

ORIGIN = (
    "It is the file that synonyms.file names: correct the name or synonyms.columns; a profile "
    "brings files under `external:`; synonyms.reader: none does without."
)


COLUMNS = ("term", "synonym")
SAME = "term and synonym are the same"
BAD_ARROW = "not exactly one =>"


def read_synonyms(params: SynonymsParams, rejected: RejectedRows) -> list[tuple[str, str]]:
    """Read pairs (term, synonym) of normalized phrases, file after file, in their order.

    A pair means both directions and stands once, whichever way round it is repeated.

    Raises:
        IngestError: the file or a column is missing.
    """
    pairs: dict[frozenset[str], tuple[str, str]] = {}
    for row, term, synonym in _rows(params, rejected):
        pair = frozenset((term, synonym))
        if not term:
            rejected.refuse(row, empty("term"))
        elif not synonym:
            rejected.refuse(row, empty("synonym"))
        elif term == synonym:
            rejected.refuse(row, SAME)
        elif pair in pairs:
            rejected.refuse(row, DUPLICATE_ROW)
        else:
            pairs[pair] = (term, synonym)
    return list(pairs.values())


def _rows(params: SynonymsParams, rejected: RejectedRows) -> Iterator[tuple[Row, str, str]]:
    if params.reader == "none":
        return
    if params.reader == "thesaurus":
        for path in params.paths:
            yield from _thesaurus(path, rejected)
        return
    named = {name: name for name in COLUMNS} | params.columns
    columns = mapped_columns(named, "synonyms.columns", COLUMNS, ())
    for path in params.paths:
        for row in read_rows(path, columns, ORIGIN, rejected):
            yield row, normalize_title(row["term"]), normalize_title(row["synonym"])


def _thesaurus(path: Path, rejected: RejectedRows) -> Iterator[tuple[Row, str, str]]:
    for row in line_rows(path, "line", ORIGIN, rejected):
        left, *right = row["line"].split("=>")
        if len(right) != 1:
            rejected.refuse(row, BAD_ARROW)
            continue
        names = [normalize_title(name) for name in left.split(",")]
        term = normalize_title(right[0].replace("_", " "))
        if term not in names and term.removesuffix(" jobs") in names:
            term = term.removesuffix(" jobs")
        if term in names:
            names.remove(term)
        for name in names:
            yield row, term, name
