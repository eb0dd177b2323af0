"""Accuracy against coverage: the curve against a loop, and the table worked by hand."""

from __future__ import annotations

import re

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.io.schemas import RUN, SCORES
from tasks.pipeline.report.sections.coverage import coverage, curve, surest_first

TENTHS = st.integers(-10, 10).map(lambda tenths: tenths / 10)


def answers(rows: list[tuple[float | None, float]]) -> dict[str, pl.DataFrame]:
    """Frames of one system whose queries have these scores (None: no answer) and successes."""
    named = [(f"q{place}", *row) for place, row in enumerate(rows)]
    run = [
        ("typos", "annotations", q, 1, "a", "t", score)
        for q, score, _ in named
        if score is not None
    ]
    scores = [("typos", "annotations", q, hit, hit, hit, hit) for q, _, hit in named]
    return {
        "run": pl.DataFrame(run, schema=dict(RUN), orient="row"),
        "scores": pl.DataFrame(scores, schema=dict(SCORES), orient="row"),
    }


@pytest.mark.thorough
@given(
    st.lists(
        st.tuples(st.none() | TENTHS, st.sampled_from([0.0, 0.5, 1.0])), min_size=1, max_size=15
    )
)
def test_curve_against_a_loop(rows):
    """Take equal scores together, and leave a query without an answer out at every threshold."""
    made = curve(surest_first(**answers(rows), system="typos"))
    scores = sorted({score for score, _ in rows if score is not None}, reverse=True)
    assert made["threshold"].to_list() == pytest.approx(scores)
    for threshold, answered, right in made.rows():
        taken = [hit for score, hit in rows if score is not None and score >= threshold - 1e-6]
        assert answered == pytest.approx(len(taken) / len(rows))
        assert right == pytest.approx(sum(taken) / len(taken))


@pytest.mark.thorough
def test_table_worked_by_hand(change):
    """Ten queries, the surest five right, the next by half (a tie): from 4/8 on 5.5 of 6."""
    rows = [(place / 8, min(max((place - 3) / 2, 0.0), 1.0)) for place in range(10)]
    page = coverage(change(**answers(rows)))
    table = re.findall(r'<th scope="row">([^<]*)</th>((?:<td[^>]*>[^<]*</td>)*)', page)
    cells = {name: re.findall(r"<td[^>]*>([^<]*)<", rest) for name, rest in table}
    assert list(cells) == [f"{place / 8:.3f}" for place in range(10)]
    assert cells["0.625"] == ["5", "50 %", "5", "1.000", "1.000 – 1.000"]
    assert cells["0.500"][:4] == ["6", "60 %", "5.5", "0.917"]
    assert cells["0.000"][:4] == ["10", "100 %", "5.5", "0.550"]
    assert page.count("<figure>") == 1


def test_a_test_without_answers_has_no_curve(empty, change):
    assert "there is no curve" in coverage(empty)
    assert "there is no curve" in coverage(change(**answers([(None, 0.0), (None, 0.0)])))
