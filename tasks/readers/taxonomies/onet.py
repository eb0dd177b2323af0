"""O*NET's text files: tab-separated, a header, no quoting.

`occupations` (Occupation Data.txt) gives ids and labels; `alternates` (Alternate Titles.txt) and
`reported` (Sample of Reported Titles.txt), either of which may be left out, give the titles. A
short title ("CEO") counts as a title of its own; `n/a` stands for none.

`codes` are the four levels of the Standard Occupational Classification above the O*NET code:
major group, minor group, broad occupation, detailed occupation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from tasks.readers.csv_rows import csv_rows
from tasks.readers.outside import named_files
from tasks.readers.records import BARE_TABS
from tasks.readers.rejected import BAD_CODE, Ledger, Row
from tasks.readers.rows import distinct
from tasks.readers.taxonomy import Taxonomy

if TYPE_CHECKING:
    from tasks.ingest import TaxonomyParams

ORIGIN = (
    "O*NET is published by the O*NET Resource Center (database, text files); bring its files to "
    "data/external/ with `dvc import-url` as docs/SOURCES.md shows."
)
CODE = re.compile(r"\d\d-\d{4}\.\d\d")
NONE = "n/a"
# a minor group is three digits and three zeros, but for these (SOC 2018 manual, coding structure)
LONGER_MINOR_GROUPS = frozenset({"15-12", "31-11", "51-51"})
OCCUPATIONS = {"occupation_id": "O*NET-SOC Code", "occupation_label": "Title"}
ALTERNATES = {
    "occupation_id": "O*NET-SOC Code",
    "title": "Alternate Title",
    "short_title": "Short Title",
}
REPORTED = {"occupation_id": "O*NET-SOC Code", "title": "Reported Job Title"}


def read(params: TaxonomyParams, ledger: Ledger) -> Taxonomy:
    """Read the files named in `params.files`: `occupations`, `alternates`, `reported`."""
    files = named_files(params.files, ["occupations"], ["alternates", "reported"])
    taxonomy = Taxonomy(ledger)
    for row in _rows(files["occupations"], OCCUPATIONS, ledger):
        occupation = row["occupation_id"]
        if CODE.fullmatch(occupation):
            taxonomy.add_occupation(row, occupation, row["occupation_label"], soc_chain(occupation))
        else:
            ledger.refuse(row, BAD_CODE)
    for name, columns in (("alternates", ALTERNATES), ("reported", REPORTED)):
        if name in files:
            _add_titles(taxonomy, _rows(files[name], columns, ledger))
    return taxonomy


def soc_chain(code: str) -> list[str]:
    """List the levels of a code: 11-1021.00 -> 11-0000, 11-1000, 11-1020, 11-1021."""
    detailed = code[:7]
    digits = 5 if detailed[:5] in LONGER_MINOR_GROUPS else 4
    return [
        f"{detailed[:3]}0000",
        detailed[:digits].ljust(7, "0"),
        f"{detailed[:6]}0",
        detailed,
    ]


def _add_titles(taxonomy: Taxonomy, rows: Iterator[Row]) -> None:
    for row in rows:
        taxonomy.add_title(row, row["occupation_id"], row["title"])
        short = row["short_title"] if "short_title" in row.values else NONE
        if short != NONE:
            taxonomy.add_title(row.about(short), row["occupation_id"], short)


def _rows(path: Path, columns: Mapping[str, str], ledger: Ledger) -> Iterator[Row]:
    return distinct(csv_rows(path, columns, ORIGIN, ledger, BARE_TABS), ledger)
