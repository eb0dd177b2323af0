"""Rows of answers worked by hand: abstentions, ranks, confidence, calibration error, everyday."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from benchmarks.answer_figures import RankedAnswers, accuracy, error_figure
from benchmarks.product import everyday_figures, everyday_titles
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


def test_ranks_abstentions_and_confidence_by_hand() -> None:
    """Four titles with two gold occupations: right, second, at rank 20, no answer.

    success@1 = 1/4, success@10 = 2/4, MRR@10 = (1 + 1/2) / 4 = 0.375, MRR@100 = 0.375 + 1/80. Two
    answers have 0.8 or more, one of them is right; the abstention has no confidence.
    """
    lists = [["a", "b"], ["x", "b", "a"], [*"cdefghijklmnopqrstua"], []]
    queries = pl.DataFrame({"test": ["t"] * 4, "occupation_ids": [["a", "b"]] * 4})
    answers = RankedAnswers(lists, np.array([0.9, 0.8, 0.79, float("nan")]))
    made = {row.metric: row for row in accuracy("s", queries, answers, 200, 1)}
    expected = {"success_at_1": 0.25, "success_at_10": 0.5, "abstained": 0.25}
    expected |= {"mrr_at_10": 0.375, "mrr_at_100": 0.3875}
    expected |= {"confident": 0.5, "confident_correct": 0.5}  # too few for a calibration error
    assert {name: figure.value for name, figure in made.items()} == pytest.approx(expected)
    for name, figure in made.items():
        assert figure.n == (2 if name == "confident_correct" else 4)
        assert figure.low is not None and figure.high is not None
        assert figure.low <= figure.value <= figure.high


def test_calibration_error_of_one_answer_a_bin() -> None:
    """Fifteen answers in fifteen bins, all with confidence 0.8, twelve right.

    A right one is off by 0.2, a wrong one by 0.8: (12 · 0.2 + 3 · 0.8) / 15 = 4.8 / 15 = 0.32. In
    each bin the share is 0 or 1, so that chance adds nothing to take off.
    """
    made = error_figure("s", "t", np.full(15, 0.8), np.arange(15) < 12, 1)
    assert made.value == pytest.approx(0.32)
    assert made.n == 15 and made.low is not None and made.high is not None
    assert made.low < 0.32 < made.high


def test_tests_stand_apart_and_equal_seeds_give_equal_figures() -> None:
    queries = pl.DataFrame({"test": ["t", "u", "t"], "occupation_ids": [["a"], ["b"], ["c"]]})
    answers = RankedAnswers([["a"], ["a"], ["b", "c"]], np.full(3, np.nan))
    made, again = (list(accuracy("s", queries, answers, 200, 1)) for _ in range(2))
    first = {f.test: (f.value, f.n) for f in made if f.metric == "success_at_1"}
    assert first == {"t": (0.5, 2), "u": (0.0, 1)} and made == again


def test_everyday_titles_by_hand() -> None:
    """English titles, those in other languages, and all."""
    rows = everyday_figures("work", TITLES, ANSWERS)
    made = {(row.test, row.metric): (row.value, row.n) for row in rows}
    assert {metric: value for (test, metric), value in made.items() if "english" in test} == {
        "success_at_1": (0.5, 2),
        "isco_2_digits": (1.0, 2),
        "wrong_at_0.8": (0.25, 4),
        "non_jobs_answered_at_0.5": (0.0, 1),
        "vague_answered_at_0.5": (1.0, 1),
        "right_at_0.9": (1.0, 1),
    }
    assert made["everyday_work_all", "right_at_0.9"] == (0.5, 2)
    assert made["everyday_work_other_languages", "success_at_1"] == (0.0, 1)
    assert ("everyday_work_other_languages", "vague_answered_at_0.5") not in made


@pytest.mark.parametrize("half", HALVES)
def test_every_half_has_titles_of_every_kind(half: str) -> None:
    titles = everyday_titles(half)
    assert 195 <= len(titles) <= 205
    assert set(titles["kind"]) == {"clear", "vague", "none"}
    clear = titles.filter(kind="clear")
    assert clear["occupation_ids"].list.len().min() > 0
    assert set(clear["two_digits"].list.len()) == set(clear["occupation_ids"].list.len())
