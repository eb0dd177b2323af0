"""O*NET's text files: tab-separated, a header, no quoting.

`occupations` (Occupation Data.txt) gives ids and labels; the optional `alternates` (Alternate
Titles.txt) and `reported` (Sample of Reported Titles.txt) the titles. `left_out`, in the form of
the latter, names titles that no occupation gets, compared normalized, so that they can be queries;
labels stay. `codes`: the four levels of the Standard Occupational Classification.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping
from pathlib import Path

from models.text.titles import normalize_title
from tasks.pipeline.ingest.taxonomy import ENGLISH, Taxonomy, TaxonomyParams
from tasks.tables.delimited import BARE_TABS
from tasks.tables.read_table import distinct, read_rows
from tasks.tables.rejected import BAD_CODE, LEFT_OUT, RejectedRows, Row
from tasks.tables.source_files import named_files

ORIGIN = (
    "O*NET is published by the O*NET Resource Center (database, text files); bring its files to "
    "data/external/ with `dvc import-url` as docs/SOURCES.md shows."
)
CODE = re.compile(r"\d\d-\d{4}\.\d\d")
NONE = "n/a"
# a minor group is three digits and three zeros, but for these (SOC 2018 manual, coding structure)
LONGER_MINOR_GROUPS = frozenset({"15-12", "31-11", "51-51"})
OCCUPATION = {"occupation_id": "O*NET-SOC Code"}
OCCUPATIONS = {**OCCUPATION, "occupation_label": "Title"}
ALTERNATES = {**OCCUPATION, "title": "Alternate Title", "short_title": "Short Title"}
REPORTED = {**OCCUPATION, "title": "Reported Job Title"}


def read(params: TaxonomyParams, rejected: RejectedRows) -> Taxonomy:
    """Read the files that `params.files` names: `occupations`, and what it has of the others."""
    files = named_files(params.files, ["occupations"], ["alternates", "reported", "left_out"])
    taxonomy = Taxonomy(rejected)
    for row in _rows(files["occupations"], OCCUPATIONS, rejected):
        occupation = row["occupation_id"]
        if CODE.fullmatch(occupation):
            codes = soc_chain(occupation)
            taxonomy.add_occupation(row, occupation, row["occupation_label"], codes, ENGLISH)
        else:
            rejected.refuse(row, BAD_CODE)
    left_out = set[str]()
    if "left_out" in files:
        rows = _rows(files["left_out"], REPORTED, rejected)
        labels = {normalize_title(taxonomy.label(name)) for name in taxonomy.titles}
        left_out = {normalize_title(row["title"]) for row in rows} - labels
    for name, columns in (("alternates", ALTERNATES), ("reported", REPORTED)):
        if name in files:
            _add_titles(taxonomy, _rows(files[name], columns, rejected), left_out)
    return taxonomy


def soc_chain(code: str) -> list[str]:
    """List the levels of a code: 11-1021.00 -> 11-0000, 11-1000, 11-1020, 11-1021."""
    detailed = code[:7]
    digits = 5 if detailed[:5] in LONGER_MINOR_GROUPS else 4
    return [f"{detailed[:3]}0000", detailed[:digits].ljust(7, "0"), f"{detailed[:6]}0", detailed]


def _add_titles(taxonomy: Taxonomy, rows: Iterator[Row], left_out: Container[str]) -> None:
    for row in rows:
        titles = [(row, row["title"])]
        short = row.values.get("short_title", NONE).strip()
        if short != NONE:
            titles.append((row.about(short), short))
        for about, title in titles:
            if normalize_title(title) in left_out:
                taxonomy.rejected.refuse(about, LEFT_OUT)
            else:
                taxonomy.add_title(about, row["occupation_id"], title, ENGLISH)


def _rows(path: Path, columns: Mapping[str, str], rejected: RejectedRows) -> Iterator[Row]:
    return distinct(read_rows(path, columns, ORIGIN, rejected, BARE_TABS), rejected)
