"""The inputs whose words were labelled by hand: which they are, and how words are counted."""

from __future__ import annotations

import csv
import random

import pytest

from benchmarks.studies.qualifiers.measure import LABELLED, words
from models.served.qualifiers import KINDS
from tasks.files.command import ROOT


def test_they_are_a_random_draw_and_their_spans_stand_in_them() -> None:
    with LABELLED.open(encoding="utf-8", newline="") as lines:
        labelled = list(csv.DictReader(lines))
    with (ROOT / "data/sample/inputs.csv").open(encoding="utf-8", newline="") as lines:
        titles = [row["raw_title"] for row in csv.DictReader(lines)]
    random.Random(14).shuffle(titles)
    assert [row["raw_title"] for row in labelled] == titles[: len(labelled)]
    assert len(labelled) >= 300
    for row in labelled:
        for kind in KINDS:
            spans = [span for span in row[kind].split("|") if span]
            assert len(words(row["raw_title"], spans)) >= len(spans)


def test_words_are_counted_by_their_place() -> None:
    assert words("nights, 24 hrs nights", ["24 hrs", "nights"]) == {1, 2, 3}
    assert words("nights nights", ["nights"]) == {0}
    assert words("part-time", ["part-time"]) == {0, 1}
    with pytest.raises(ValueError, match="not found"):
        words("nurse", ["nights"])
