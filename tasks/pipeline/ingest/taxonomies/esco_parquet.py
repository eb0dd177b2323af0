"""ESCO in Parquet, as `data/esco/` has it: titles in every language in one table.

`titles` (occupation_id, language, title, preferred: the label of its language, which stands before
its other titles), `occupations` (occupation_id, isco_code) and `groups` (isco_code). `codes` is as
in `esco`.
"""

from __future__ import annotations

from tasks.pipeline.ingest.taxonomies.esco import isco_groups, known_chain
from tasks.pipeline.ingest.taxonomy import Taxonomy, TaxonomyParams
from tasks.tables.read_table import read_rows
from tasks.tables.rejected import RejectedRows
from tasks.tables.source_files import named_files

ORIGIN = (
    "It is part of this repository (data/esco/): bring it back with `git checkout`, or make it "
    "from ESCO's files with data/esco/make.py."
)
CODES = {"occupation_id": "occupation_id", "isco_code": "isco_code"}
GROUPS = {"code": "isco_code", "label": "label"}
TITLES = {name: name for name in ("occupation_id", "language", "title", "preferred")}


def read(params: TaxonomyParams, rejected: RejectedRows) -> Taxonomy:
    """Read the three files named in `params.files`."""
    files = named_files(params.files, ["titles", "occupations", "groups"])
    rows = read_rows(files["occupations"], CODES, ORIGIN, rejected)
    codes = {row["occupation_id"]: row["isco_code"] for row in rows}
    taxonomy = Taxonomy(rejected)
    taxonomy.groups = isco_groups(files["groups"], GROUPS, ORIGIN, rejected)
    for row in read_rows(files["titles"], TITLES, ORIGIN, rejected):
        occupation, title, language = row["occupation_id"], row["title"], row["language"].lower()
        if row["preferred"] != "true":
            taxonomy.add_title(row, occupation, title, language)
        elif chain := known_chain(row, codes, taxonomy.groups, rejected):
            taxonomy.add_occupation(row, occupation, title, chain, language)
    return taxonomy
