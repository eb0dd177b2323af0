"""Verdicts on invented scores."""

from __future__ import annotations

import polars as pl
import pytest

from tasks.files.schemas import SCORES
from tasks.registry.gate import as_markdown, decide

HITS = {"lost": 0, "half": 1, "won": 2}


def scores(challenger: dict[str, list[int]], opponent: dict[str, list[int]]) -> pl.DataFrame:
    """One row per hit or miss; the n-gram matcher answers as the opponent."""
    rows = [
        (system, test, f"q{number}", *[float(value)] * 4)
        for system, tests in (
            ("challenger", challenger),
            ("opponent", opponent),
            ("ngram", opponent),
        )
        for test, values in tests.items()
        for number, value in enumerate(values)
    ]
    return pl.DataFrame(rows, schema=dict(SCORES), orient="row")


LOW, HIGH = [0] * 150 + [1] * 50, [0] * 50 + [1] * 150


def test_better_on_one_and_equal_on_the_other_is_promoted() -> None:
    verdict = decide(scores({"a": HIGH, "b": LOW}, {"a": LOW, "b": LOW}), "champion", 1000, 1)
    assert verdict.promoted
    assert verdict.reason == "better than champion on a, within 0.01 on every test"
    first, second = verdict.figures
    assert (first.challenger, first.opponent, first.queries) == (0.75, 0.25, 200)
    assert first.difference == pytest.approx(0.5)
    assert first.better and not second.better and second.kept_up
    assert first.over_ngram.value == pytest.approx(0.5) and first.over_ngram.low > 0.4


def test_worse_on_one_is_refused_however_good_the_other() -> None:
    verdict = decide(scores({"a": HIGH, "b": LOW}, {"a": LOW, "b": HIGH}), "champion", 1000, 1)
    assert not verdict.promoted
    assert verdict.reason == "not shown to be within 0.01 of champion on b"


def test_equal_everywhere_is_refused() -> None:
    verdict = decide(scores({"a": LOW, "b": HIGH}, {"a": LOW, "b": HIGH}), "champion", 1000, 1)
    assert not verdict.promoted and verdict.reason == "better than champion on no test"
    assert all(figures.kept_up for figures in verdict.figures)


def test_a_gain_within_chance_is_refused() -> None:
    """One query of 200 more: of the resamples exp(−1), about 37 %, do not hold it."""
    verdict = decide(scores({"a": [1, *LOW[1:]]}, {"a": LOW}), "champion", 1000, 1)
    assert not verdict.promoted and verdict.figures[0].difference == pytest.approx(0.005)


def test_the_order_of_rows_does_not_matter() -> None:
    frame = scores({"a": HIGH, "b": LOW}, {"a": LOW, "b": LOW})
    shuffled = frame.sample(fraction=1, shuffle=True, seed=1)
    one, two = (decide(rows, "champion", 1000, 1) for rows in (frame, shuffled))
    assert one.promoted == two.promoted
    assert {f.test: f for f in one.figures} == {f.test: f for f in two.figures}


def test_other_queries_or_a_missing_system_are_an_error() -> None:
    with pytest.raises(ValueError, match="the same queries"):
        decide(scores({"a": HIGH}, {"a": HIGH[1:]}), "champion", 1000, 1)
    frame = scores({"a": HIGH}, {"a": LOW}).filter(pl.col("system") != "ngram")
    with pytest.raises(ValueError, match="ngram"):
        decide(frame, "champion", 1000, 1)


def test_no_queries_is_a_refusal() -> None:
    verdict = decide(pl.DataFrame(schema=dict(SCORES)), "champion", 1000, 1)
    assert not verdict.promoted and "no queries" in verdict.reason


def test_page() -> None:
    verdict = decide(scores({"a": HIGH}, {"a": LOW}), "champion version 3", 1000, 1)
    page = as_markdown(verdict.figures, "champion version 3")
    head, rule, row = page.splitlines()[2:]
    assert head.count("|") == rule.count("|") == row.count("|")
    assert "| a | 200 | 0.750 | 0.250 | +0.500 |" in row and "yes" in row


def test_a_first_version_has_to_be_better_on_one_test_and_worse_on_none() -> None:
    """Equal on `b` within noise: against a champion that is not shown to be within the margin."""
    noisy = [1.0, 0.0] * (len(LOW) // 2)
    frame = scores({"a": HIGH, "b": noisy}, {"a": LOW, "b": noisy[::-1]})
    assert not decide(frame, "champion", 1000, 1).promoted
    first = decide(frame, "the untrained network", 1000, 1, first=True)
    assert first.promoted
    assert "worse on none" in first.reason
    worse = scores({"a": HIGH, "b": LOW}, {"a": LOW, "b": HIGH})
    assert not decide(worse, "the untrained network", 1000, 1, first=True).promoted
    same = scores({"a": LOW, "b": LOW}, {"a": LOW, "b": LOW})
    assert not decide(same, "the untrained network", 1000, 1, first=True).promoted
