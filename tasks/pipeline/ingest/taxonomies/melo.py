"""The corpus of a benchmark in MELO's form (Retyk et al. 2024): titles alone, no annotation.

`elements` (corpus_elements.tsv: element id, tab, title; no header) gives the titles. An element's
occupation is that of `concepts` (concept_mapping.tsv: element id, tab, concept id), or without that
file the beginning of its id: C002220 of C002220_de_001. An occupation's first title is its label.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from tasks.pipeline.ingest.params import TaxonomyParams
from tasks.pipeline.ingest.taxonomy import Taxonomy
from tasks.tables.read_table import distinct
from tasks.tables.rejected import BAD_CODE, BAD_WIDTH, UNKNOWN_OCCUPATION, RejectedRows, Row
from tasks.tables.source_files import named_files
from tasks.tables.text import line_rows

ORIGIN = (
    "MELO's data sets are published with its paper (melo-benchmark, processed data); bring the "
    "files to data/external/ with `dvc import-url` as docs/SOURCES.md shows."
)
ELEMENT = re.compile(r"(.+)_[a-z]{2}_\d+")


def read(params: TaxonomyParams, rejected: RejectedRows) -> Taxonomy:
    """Read the files named in `params.files`: `elements` and, if given, `concepts`."""
    files = named_files(params.files, ["elements"], ["concepts"])
    concepts = None
    if "concepts" in files:
        rows = _rows(files["concepts"], ("element_id", "concept_id"), rejected)
        concepts = {row["element_id"]: row["concept_id"] for row in rows}
    taxonomy = Taxonomy(rejected)
    for row in _rows(files["elements"], ("element_id", "title"), rejected):
        occupation = _occupation(row["element_id"], concepts)
        if not occupation:
            rejected.refuse(row, BAD_CODE if concepts is None else UNKNOWN_OCCUPATION)
        elif occupation in taxonomy.titles:
            taxonomy.add_title(row, occupation, row["title"])
        else:
            taxonomy.add_occupation(row, occupation, row["title"], [])
    return taxonomy


def _occupation(element: str, concepts: Mapping[str, str] | None) -> str:
    """Return the element's concept; empty if there is none."""
    if concepts is not None:
        return concepts.get(element, "")
    parts = ELEMENT.fullmatch(element)
    return parts[1] if parts else ""


def _rows(path: Path, names: tuple[str, str], rejected: RejectedRows) -> Iterator[Row]:
    """Yield rows with two fields under these names; a quote is a character like any other."""
    for row in distinct(line_rows(path, "line", ORIGIN, rejected), rejected):
        fields = row.text.split("\t")
        if len(fields) == len(names):
            yield Row(row.file, row.line, row.text, dict(zip(names, fields, strict=True)))
        else:
            rejected.refuse(row, BAD_WIDTH)
