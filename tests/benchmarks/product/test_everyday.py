"""Figures of the everyday titles, by hand."""

from __future__ import annotations

import pandas as pd
import polars as pl
import pytest

from benchmarks.product.everyday import everyday_figures, everyday_titles
from tasks.evaluation.everyday import HALVES

TITLES = pl.DataFrame(
    [
        ("nurse", "en", "clear", ["n", "m"], ["22"]),
        ("baker", "en", "clear", ["b"], ["75"]),
        ("driver", "en", "vague", [], []),
        ("n/a", "en", "none", [], []),
        ("Pflegerin", "de", "clear", ["n"], ["22"]),
        ("Rentner", "de", "none", [], []),
    ],
    schema=["raw_title", "language", "kind", "occupation_ids", "two_digits"],
    orient="row",
)
ANSWERS = pd.DataFrame(
    {
        "occupation_id": ["m", "c", "d", None, None, "p"],
        "confidence": [0.95, 0.85, 0.55, None, None, 0.97],
        "codes": [["2", "22"], ["7", "75"], ["8", "83"], [], [], ["9", "91"]],
    }
)


def test_by_hand() -> None:
    """English titles, those in other languages, and all."""
    figures = {
        (row.test, row.metric): (row.value, row.n)
        for row in everyday_figures("work", TITLES, ANSWERS)
    }
    english = {metric: value for (test, metric), value in figures.items() if "english" in test}
    assert english == {
        "success_at_1": (0.5, 2),
        "isco_2_digits": (1.0, 2),
        "wrong_at_0.8": (0.25, 4),
        "non_jobs_answered_at_0.5": (0.0, 1),
        "vague_answered_at_0.5": (1.0, 1),
        "right_at_0.9": (1.0, 1),
    }
    assert figures["everyday_work_all", "right_at_0.9"] == (0.5, 2)
    assert figures["everyday_work_other_languages", "success_at_1"] == (0.0, 1)
    assert ("everyday_work_other_languages", "vague_answered_at_0.5") not in figures


@pytest.mark.parametrize("half", HALVES)
def test_every_half_has_titles_of_every_kind(half: str) -> None:
    titles = everyday_titles(half)
    assert 195 <= len(titles) <= 205
    assert set(titles["kind"]) == {"clear", "vague", "none"}
    clear = titles.filter(kind="clear")
    assert clear["occupation_ids"].list.len().min() > 0
    assert set(clear["two_digits"].list.len()) == set(clear["occupation_ids"].list.len())
