"""ESCO as the European Commission publishes it: `occupations_en.csv` and `ISCOGroups_en.csv`.

One record an occupation, its alternative labels in one field, one a line. The id is the concept
URI, `codes` the ISCO-08 groups above it, e.g. 2, 21, 216, 2166. Hidden labels are not read: ESCO
keeps them from display, and the published figures count without them.
"""

from __future__ import annotations

from pathlib import Path

from tasks.pipeline.ingest.params import TaxonomyParams
from tasks.pipeline.ingest.taxonomy import Taxonomy
from tasks.tables.read_table import distinct, read_rows
from tasks.tables.rejected import UNKNOWN_CODE, RejectedRows, empty
from tasks.tables.source_files import named_files

ORIGIN = (
    "ESCO is published by the European Commission (ESCO portal, download: English, CSV); bring "
    "its files to data/external/ with `dvc import-url` as docs/SOURCES.md shows."
)
COLUMNS = {
    "occupation_id": "conceptUri",
    "occupation_label": "preferredLabel",
    "isco_code": "iscoGroup",
    "titles": "altLabels",
}


def read(params: TaxonomyParams, rejected: RejectedRows) -> Taxonomy:
    """Read the two files named in `params.files`: `occupations` and `groups`."""
    files = named_files(params.files, ["occupations", "groups"])
    taxonomy = Taxonomy(rejected)
    taxonomy.groups = _groups(files["groups"], rejected)
    for row in distinct(read_rows(files["occupations"], COLUMNS, ORIGIN, rejected), rejected):
        codes = isco_chain(row["isco_code"])
        if not codes or not taxonomy.groups.keys() >= set(codes):
            rejected.refuse(row, UNKNOWN_CODE)
        elif taxonomy.add_occupation(row, row["occupation_id"], row["occupation_label"], codes):
            titles = row["titles"].replace("\r", "\n").split("\n")
            for title in filter(None, map(str.strip, titles)):
                taxonomy.add_title(row.about(title), row["occupation_id"], title)
    return taxonomy


def isco_chain(code: str) -> list[str]:
    """Return an ISCO-08 code's groups, broad to narrow: each digit is one level more."""
    return [code[:length] for length in range(1, len(code) + 1)]


def _groups(path: Path, rejected: RejectedRows) -> dict[str, str]:
    groups: dict[str, str] = {}
    for row in read_rows(path, {"code": "code", "label": "preferredLabel"}, ORIGIN, rejected):
        if row["code"]:
            groups[row["code"]] = row["label"]
        else:
            rejected.refuse(row, empty("code"))
    return groups
