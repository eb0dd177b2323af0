"""Words of seniority, contract and place that the model finds in inputs labelled by one person.

`labelled_qualifiers.csv` holds inputs of the sample, drawn by `random.Random(14)`: spans as
written, `|` between them. A word is counted, not a span.
"""

from __future__ import annotations

import csv
import random
from collections.abc import Sequence
from pathlib import Path

import pytest

from models.normalizer.qualifiers import KINDS, TOKENS, Qualifiers, read_phrases
from models.text.titles import clean_title
from tasks.io.command import ROOT
from tasks.release.model_package.phrases import PHRASES, write_phrases

pytestmark = pytest.mark.thorough

LABELLED = Path(__file__).with_name("labelled_qualifiers.csv")
SAMPLE = ROOT / "data/sample"
LEAST = {"seniority": (0.84, 0.85), "contract": (0.98, 0.84), "location": (0.90, 0.90)}
"""Precision and recall that were reached when the labels were made, rounded down."""


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def spans(row: dict[str, str], kind: str) -> list[str]:
    return [span for span in row[kind].split("|") if span]


def words(title: str, found: Sequence[str]) -> set[int]:
    """Return which tokens of a title stand in the spans, which are in the title's order."""
    tokens, place, chosen = list(TOKENS.finditer(title)), 0, set()
    for span in found:
        start = title.index(span, place)
        place = start + len(span)
        chosen |= {
            number
            for number, token in enumerate(tokens)
            if token.start() < place and token.end() > start
        }
    return chosen


@pytest.fixture(scope="module")
def recognize(tmp_path_factory: pytest.TempPathFactory) -> Qualifiers:
    file = tmp_path_factory.mktemp("phrases") / "phrases.csv"
    write_phrases(
        PHRASES, [clean_title(row["title"]) for row in rows(SAMPLE / "aliases.csv")], file
    )
    return Qualifiers(read_phrases(file))


@pytest.mark.parametrize("kind", KINDS)
def test_as_many_words_are_found_as_ever(recognize: Qualifiers, kind: str) -> None:
    both = found_words = right_words = 0
    for row in rows(LABELLED):
        title = row["raw_title"]
        right, found = words(title, spans(row, kind)), words(title, getattr(recognize(title), kind))
        both, found_words, right_words = (
            both + len(found & right),
            found_words + len(found),
            right_words + len(right),
        )
    precision, recall = LEAST[kind]
    assert both / found_words >= precision and both / right_words >= recall


def test_the_inputs_are_a_random_draw_and_their_spans_stand_in_them() -> None:
    labelled = rows(LABELLED)
    titles = [row["raw_title"] for row in rows(SAMPLE / "inputs.csv")]
    random.Random(14).shuffle(titles)
    assert [row["raw_title"] for row in labelled] == titles[: len(labelled)]
    assert len(labelled) >= 300
    for row in labelled:
        for kind in KINDS:
            assert len(words(row["raw_title"], spans(row, kind))) >= len(spans(row, kind))


def test_words_are_counted_by_their_place() -> None:
    assert words("nights, 24 hrs nights", ["24 hrs", "nights"]) == {1, 2, 3}
    assert words("nights nights", ["nights"]) == {0}
    assert words("part-time", ["part-time"]) == {0, 1}
