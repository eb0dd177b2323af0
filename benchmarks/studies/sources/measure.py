"""How many titles and inputs each rule of the sources takes or leaves."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from typing import Any

from benchmarks.results import Row
from benchmarks.studies.sources.readings import changed_share, shared_anywhere
from benchmarks.workspace import Workspace
from tasks.files.frames import read_frame
from tasks.files.schemas import SPLIT_ALIASES, SYNONYM_VARIANTS, TITLES
from tasks.reporting.sections.sizes import size_counts, with_variants

COUNTED: dict[str, tuple[tuple[str, str], ...]] = {
    "synonyms": (
        ("induction", "induction"),
        ("induction/contexts:1", "induction.at_min_contexts.1"),
        ("induction/contexts:2", "induction.at_min_contexts.2"),
        ("generated/induced", "titles.induced"),
        ("generated/manual", "titles.manual"),
        ("generated", "titles.all"),
        ("composition", "parts.test"),
    ),
    "extra_words": (
        ("mined", "mined"),
        ("mined/source:label_agrees", "mined.by_slice.label_agrees"),
        ("mined/source:label_differs", "mined.by_slice.label_differs"),
    ),
}
"""Stage to test and the place of its counts in the stage's `metrics.json`."""
SIZE = "occupation_size:"
SIZED = ("taxonomy", "with_synonyms")


def measure(dataset: str, options: argparse.Namespace) -> Iterator[list[Row]]:
    """Yield every count of one data set, and of other readings; no stage has run: no count."""
    workspace, rows = Workspace.read(dataset), []
    for stage, places in COUNTED.items():
        file = workspace.data / stage / "metrics.json"
        metrics = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
        for test, place in places:
            rows += [Row(stage, test, *count, count[1]) for count in _counts(metrics, place)]
    yield [*rows, *_otherwise(workspace), *sizes(workspace)]


def _otherwise(workspace: Workspace) -> Iterator[Row]:
    """Yield what other readings of the paper would take."""
    titles, params = read_frame(workspace.data / "split/titles.parquet", TITLES), workspace.params
    accepted = shared_anywhere(titles, params.synonyms)
    yield Row("synonyms", "induction/anywhere", "accepted", accepted, accepted)
    asked, share = titles.filter(split="train")["title"].to_list(), params.typos.test_share
    yield Row("typos", "typos", "changed", changed_share(asked, share), len(asked))


def sizes(workspace: Workspace) -> Iterator[Row]:
    """Yield how many occupations have so many titles, before and after synonyms are put in."""
    aliases = workspace.data / "split/aliases.parquet"
    variants = workspace.data / "synonyms/variants.parquet"
    if not (aliases.is_file() and variants.is_file()):
        return
    before = read_frame(aliases, SPLIT_ALIASES)
    after = with_variants(before, read_frame(variants, SYNONYM_VARIANTS))
    for system, titles in zip(SIZED, (before, after), strict=True):
        for size, count, _ in size_counts(titles).iter_rows():
            yield Row(system, f"{SIZE}{size}", "occupations", count, count)


def _counts(metrics: dict[str, Any], place: str) -> Iterator[tuple[str, int]]:
    """Yield the numbers at a dotted place, by name; a number itself counts rows. Absent: none."""
    node: Any = metrics
    for name in place.split("."):
        node = node.get(name, {})
    named = node.items() if isinstance(node, dict) else [("rows", node)]
    yield from ((name, value) for name, value in named if isinstance(value, int))
