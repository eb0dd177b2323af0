"""Words of seniority, contract and place that the registered model finds, beside those of people.

`labelled.csv` holds inputs of the sample, drawn by `random.Random(14)`, labelled by one person:
spans as written, `|` between them. A word is counted, not a span.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.results import Row
from benchmarks.workspace import Workspace
from models.served.qualifiers import KINDS, TOKENS, Qualifiers, read_phrases
from tasks.artefact.phrases import PHRASES, write_phrases

LABELLED = Path(__file__).with_name("labelled.csv")
SYSTEM = "rolecall"
DRAWS = 1000


def measure(dataset: str, options: argparse.Namespace) -> Iterator[list[Row]]:
    """Count the words of each kind that are found, and of these and of all the right ones."""
    workspace = Workspace.read(dataset)
    with TemporaryDirectory() as folder:
        write_phrases(PHRASES, workspace.aliases.titles, Path(folder) / "phrases.csv")
        recognize = Qualifiers(read_phrases(Path(folder) / "phrases.csv"))
    with LABELLED.open(encoding="utf-8", newline="") as lines:
        inputs = list(csv.DictReader(lines))
    rows = []
    for kind in KINDS:
        counts = []
        for labelled in inputs:
            title = labelled["raw_title"]
            right = words(title, [span for span in labelled[kind].split("|") if span])
            found = words(title, recognize(title)[kind])
            counts.append((len(found & right), len(found), len(right)))
        both, found_words, right_words = np.array(counts).T
        rows += [
            _share(kind, "precision", both, found_words, workspace.params.seed),
            _share(kind, "recall", both, right_words, workspace.params.seed),
        ]
    yield rows


def words(title: str, spans: Sequence[str]) -> set[int]:
    """Return which tokens of a title stand in the spans, these in the title's order.

    Raises:
        ValueError: a span is not in the title, or not in that order.
    """
    tokens, place, found = list(TOKENS.finditer(title)), 0, set()
    for span in spans:
        start = title.index(span, place)
        place = start + len(span)
        found |= {
            number
            for number, token in enumerate(tokens)
            if token.start() < place and token.end() > start
        }
    return found


def _share(kind: str, metric: str, both: np.ndarray, of: np.ndarray, seed: int) -> Row:
    """Return a share of words; its interval resamples inputs."""
    draws = np.random.default_rng(seed).integers(len(of), size=(DRAWS, len(of)))
    drawn = both[draws].sum(axis=1) / np.maximum(of[draws].sum(axis=1), 1)
    low, high = np.quantile(drawn, [0.025, 0.975])
    total = int(of.sum())
    return Row(SYSTEM, kind, metric, float(both.sum() / total), total, float(low), float(high))
