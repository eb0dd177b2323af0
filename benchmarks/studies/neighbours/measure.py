"""The nearest neighbours that the report shows, as rows: a neighbour each, with its cosine."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence

from benchmarks.results import Row
from benchmarks.workspace import Workspace
from tasks.report import load_material, page_params
from tasks.reporting.nearest import Likened, misspelt, ngrams, told_apart, unknown

NGRAMS, MISSPELT, UNKNOWN, PAIRS = "ngrams", "misspelt", "unknown_words", "pairs"
RIGHT, OTHER, APART = "right: ", "near: ", "not the same: "
"""What stands before a neighbour: an alias of a right occupation, any, the title beside."""


def measure(dataset: str, options: argparse.Namespace) -> Iterator[list[Row]]:
    """Yield the rows of all tables."""
    workspace = Workspace.read(dataset)
    params = page_params()
    material = load_material(params, workspace.data)
    apart = told_apart(material)
    rows = [
        *_rows(params.mix, NGRAMS, ngrams(material)),
        *_rows(params.mix, MISSPELT, misspelt(material)),
        *_rows(params.mix, UNKNOWN, unknown(material)),
    ]
    for row, alike in apart:
        about = f"{PAIRS}/{row.about}"
        rows.append(Row(params.mix, about, f"{APART}{row.beside}", alike, 1))
        rows += _rows(params.mix, PAIRS, [row])
    yield rows


def _rows(system: str, table: str, drawn: Sequence[Likened]) -> Iterator[Row]:
    for row in drawn:
        for near in row.near:
            how = RIGHT if near.right else OTHER
            yield Row(system, f"{table}/{row.about}", f"{how}{near.name}", near.similarity, 1)
