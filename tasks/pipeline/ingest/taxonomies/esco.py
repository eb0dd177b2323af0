"""ESCO as the European Commission publishes it: `occupations_XX.csv` and `ISCOGroups_en.csv`.

One file a language, one record an occupation, its alternative labels in one field, one a line. The
id is the concept URI, `codes` the ISCO-08 groups above it, e.g. 2, 21, 216, 2166; a file without
the column `iscoGroup` takes them from the others. Hidden labels are not read: ESCO hides them too.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Container, Mapping
from pathlib import Path

from tasks.pipeline.ingest.taxonomy import Taxonomy, TaxonomyParams
from tasks.tables.read_table import distinct, read_header, read_rows
from tasks.tables.rejected import NO_GROUP, UNKNOWN_CODE, RejectedRows, Row, empty
from tasks.tables.source_files import IngestError, named_files

ORIGIN = (
    "ESCO is published by the European Commission (ESCO portal, download: a language, CSV); bring "
    "its files to data/external/ with `dvc import-url` as docs/SOURCES.md shows."
)
OCCUPATIONS, GROUPS = "occupations", "groups"
GROUP = "iscoGroup"
OCCUPATION = {"occupation_id": "conceptUri"}
COLUMNS = {**OCCUPATION, "occupation_label": "preferredLabel", "titles": "altLabels"}
GROUP_COLUMNS = {"code": "code", "label": "preferredLabel"}
LANGUAGE = re.compile(r"_([a-z]{2,3})\.", re.IGNORECASE)  # in a name such as `occupations_de.csv`


def read(params: TaxonomyParams, rejected: RejectedRows) -> Taxonomy:
    """Read `occupations` (its language is in its file's name), `occupations_XX` and `groups`."""
    further = [name for name in params.files if name.startswith(f"{OCCUPATIONS}_")]
    required = [GROUPS] if further else [OCCUPATIONS, GROUPS]
    files = named_files(params.files, required, [OCCUPATIONS, *further])
    taxonomy = Taxonomy(rejected)
    taxonomy.groups = isco_groups(files.pop(GROUPS), GROUP_COLUMNS, ORIGIN, rejected)
    by_language = _by_language(files)
    codes = _codes(by_language.values())
    for language, file in by_language.items():
        for row in distinct(read_rows(file, COLUMNS, ORIGIN, rejected), rejected):
            occupation, label = row["occupation_id"], row["occupation_label"]
            chain = known_chain(row, codes, taxonomy.groups, rejected)
            if chain and taxonomy.add_occupation(row, occupation, label, chain, language):
                for title in filter(None, map(str.strip, re.split("[\r\n]", row["titles"]))):
                    taxonomy.add_title(row.about(title), occupation, title, language)
    return taxonomy


def known_chain(
    row: Row, codes: Mapping[str, str], groups: Container[str], rejected: RejectedRows
) -> list[str]:
    """Return the groups above a row's occupation, broad to narrow, or refuse the row: none."""
    code = codes.get(row["occupation_id"], "")
    chain = [code[:length] for length in range(1, len(code) + 1)]  # each digit is one level more
    if chain and all(code in groups for code in chain):
        return chain
    rejected.refuse(row, UNKNOWN_CODE if row["occupation_id"] in codes else NO_GROUP)
    return []


def isco_groups(
    path: Path, columns: Mapping[str, str], origin: str, rejected: RejectedRows
) -> dict[str, str]:
    """Read the labels of the hierarchy's codes; `columns` are the file's `code` and `label`."""
    groups: dict[str, str] = {}
    for row in read_rows(path, columns, origin, rejected):
        if row["code"]:
            groups[row["code"]] = row["label"]
        else:
            rejected.refuse(row, empty("code"))
    return groups


def _by_language(files: Mapping[str, Path]) -> dict[str, Path]:
    """Return the file of each language; IngestError if two files are of one."""
    by_language: dict[str, Path] = {}
    for name, file in files.items():
        named = LANGUAGE.search(file.name) if name == OCCUPATIONS else None
        language = named[1].lower() if named else name[len(OCCUPATIONS) + 1 :].lower()
        if language in by_language:
            raise IngestError(
                f"ingest.taxonomy.files.{name}: {by_language[language]} has the titles in "
                f"{language!r} already; name one file a language"
            )
        by_language[language] = file
    return by_language


def _codes(files: Collection[Path]) -> dict[str, str]:
    """Return the ISCO group of each occupation in the files that have the column."""
    codes: dict[str, str] = {}
    having = [file for file in files if GROUP in read_header(file, COLUMNS.values(), ORIGIN)]
    if not having:
        raise IngestError(
            f"none of {', '.join(file.name for file in files)} has the column {GROUP!r}: add "
            f"`occupations_en`, the English file of ESCO, to the files. {ORIGIN}"
        )
    for file in having:
        for row in read_rows(file, {**OCCUPATION, "isco_code": GROUP}, ORIGIN, RejectedRows()):
            codes.setdefault(row["occupation_id"], row["isco_code"])
    return codes
