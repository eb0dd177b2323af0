"""The hand-made taxonomy of this repository: three CSV files with a header.

`occupations` (occupation_id, occupation_label, isco_code), `aliases` (occupation_id, title: every
title but the label) and `hierarchy` (isco_code, parent_code, label; a top group has no parent).
`codes` is the chain of ISCO-08 codes from the major group down, e.g. 2, 25, 251, 2512.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tasks.pipeline.ingest.taxonomy import ENGLISH, Taxonomy, TaxonomyParams
from tasks.tables.read_table import distinct, read_rows
from tasks.tables.rejected import DUPLICATE_CODE, UNKNOWN_CODE, RejectedRows, Row, empty
from tasks.tables.source_files import named_files

ORIGIN = "It is part of this repository (data/sample/): bring it back with `git checkout`."


def read(params: TaxonomyParams, rejected: RejectedRows) -> Taxonomy:
    """Read the three files named in `params.files`."""
    files = named_files(params.files, ["occupations", "aliases", "hierarchy"])
    taxonomy = Taxonomy(rejected)
    parents = _parents(files["hierarchy"], taxonomy)
    for row in _rows(files["occupations"], "occupation_id occupation_label isco_code", rejected):
        if codes := chain(row["isco_code"], parents):
            label = row["occupation_label"]
            taxonomy.add_occupation(row, row["occupation_id"], label, codes, ENGLISH)
        else:
            rejected.refuse(row, UNKNOWN_CODE)
    for row in _rows(files["aliases"], "occupation_id title", rejected):
        taxonomy.add_title(row, row["occupation_id"], row["title"], ENGLISH)
    return taxonomy


def chain(code: str, parents: dict[str, str]) -> list[str]:
    """Return the codes from the top group to `code`; empty if a link is missing or in a ring."""
    codes: list[str] = []
    while code:
        if code not in parents or code in codes:
            return []
        codes.append(code)
        code = parents[code]
    return codes[::-1]


def _parents(path: Path, taxonomy: Taxonomy) -> dict[str, str]:
    """Map each group to the one above it; the taxonomy gets their labels."""
    parents: dict[str, str] = {}
    for row in _rows(path, "isco_code parent_code label", taxonomy.rejected):
        if not row["isco_code"]:
            taxonomy.rejected.refuse(row, empty("isco_code"))
        elif row["isco_code"] in parents:
            taxonomy.rejected.refuse(row, DUPLICATE_CODE)
        else:
            parents[row["isco_code"]] = row["parent_code"]
            taxonomy.groups[row["isco_code"]] = row["label"]
    return parents


def _rows(path: Path, names: str, rejected: RejectedRows) -> Iterator[Row]:
    columns = {name: name for name in names.split()}
    return distinct(read_rows(path, columns, ORIGIN, rejected), rejected)
