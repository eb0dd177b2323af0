"""Results, coverage and confusions, against loops and values worked out by hand."""

import re

import polars as pl
import pytest
from page_tables import tables
from report_world import PageReader

from models.metrics.intervals import Interval
from tasks.io.schemas import RUN, SCORES
from tasks.pipeline.report.results import (
    Comparison,
    compare,
    confusions,
    coverage,
    results,
    standing,
)


def test_network_is_compared_query_by_query(report_data):
    """Judge annotations: the network is right on 1 of 4, the n-gram matcher on none: +0.25."""
    by_cell = {(c.test, c.baseline): c for c in compare(report_data)}
    assert by_cell["annotations", "ngram"].difference.value == 0.25
    assert by_cell["annotations", "ngram"].difference.low == 0
    assert by_cell["annotations", "ngram"].verdict == "inconclusive"
    typos = by_cell["typos", "untrained"]
    assert typos.difference == Interval(1.0, 1.0, 1.0)
    assert typos.verdict == "better"


def test_standing_groups_tests_by_verdict():
    comparisons = [
        Comparison("typos", "ngram", Interval(0.02, 0.01, 0.03)),
        Comparison("annotations", "ngram", Interval(-0.02, -0.03, -0.01)),
        Comparison("heldout_alias", "ngram", Interval(0.0004, -0.01, 0.01)),
    ]
    assert standing(comparisons) == [
        "Against the n-gram matcher the trained network is better on Typos (+0.020); it is worse "
        "on Annotations (−0.020); it is not clearly better or worse on Held-out alias (0.000)."
    ]


def test_best_of_each_column_is_bold_and_shared_if_it_reads_the_same(report_data, change):
    """Show success@1 of annotations, 0.250 and 0.000; success@5, 1.000 and 0.500."""
    whole = results(report_data)
    body = next(split for split in whole.split("<tbody>") if "Annotations</strong>" in split)
    assert re.findall(r'class="number"><strong>([\d.]+)', body) == ["0.250", "1.000", "0.625"]
    both = results(change(table=report_data.table.with_columns(value=0.5)))
    assert both.count('class="number"><strong>0.500') == 2 * 3 * 3


def answers(rows: list[tuple[float | None, float]]) -> dict[str, pl.DataFrame]:
    """Frames of one system whose queries have these scores (None: no answer) and successes."""
    named = [(f"q{number}", *row) for number, row in enumerate(rows)]
    run = [("typos", "annotations", q, 1, "a", "t", n) for q, n, _ in named if n is not None]
    scores = [("typos", "annotations", q, hit, hit, hit, hit) for q, _, hit in named]
    return {
        "run": pl.DataFrame(run, schema=dict(RUN), orient="row"),
        "scores": pl.DataFrame(scores, schema=dict(SCORES), orient="row"),
    }


@pytest.mark.thorough
def test_thresholds_worked_by_hand(change):
    """Ten queries, the surest five right, the next by half (a tie): from 4/8 on 5.5 of 6."""
    rows = [(number / 8, min(max((number - 3) / 2, 0.0), 1.0)) for number in range(10)]
    page = coverage(change(**answers(rows)))
    cells = {name: rest for name, *rest in tables(page).popitem()[1]}
    assert list(cells) == [f"{number / 8:.3f}" for number in range(10)]
    assert cells["0.625"] == ["5", "50 %", "5", "1.000", "1.000 – 1.000"]
    assert cells["0.500"][:4] == ["6", "60 %", "5.5", "0.917"]
    assert cells["0.000"][:4] == ["10", "100 %", "5.5", "0.550"]
    assert page.count("<figure>") == 1


def test_a_test_without_answers_has_no_curve(empty, change):
    assert "there is no curve" in coverage(empty)
    assert "there is no curve" in coverage(change(**answers([(None, 0.0), (None, 0.0)])))


def test_most_misses_first_then_the_larger_share(report_data, change):
    """Ask a twice more (one right), d once more, wrong: d 2 of 2, a 2 of 3, then [a, c] 1 of 1."""
    more = [("x1", ["a"], "a"), ("x2", ["a"], "c"), ("x3", ["d"], "b")]
    last, answer = report_data.queries.tail(1), report_data.run.tail(1)
    queries, run = [report_data.queries], [report_data.run]
    for name, gold, answered in more:
        queries.append(last.with_columns(query_id=pl.lit(name), occupation_ids=pl.lit(gold)))
        run.append(answer.with_columns(query_id=pl.lit(name), occupation_id=pl.lit(answered)))
    words = PageReader(page := confusions(change(queries=pl.concat(queries), run=pl.concat(run))))
    assert "3 occupations with 5 wrong first answers; the 3 with the most, 100 %" in words.words
    rows = [row[:4] for row in tables(page).popitem()[1]]
    assert rows == [
        ("driver &amp; loader", "2", "2", "C++ &lt;developer&gt; (2)"),
        ("baker 🥖", "2", "3", "C++ &lt;developer&gt; (1), nurse (1)"),
        ("baker 🥖 and nurse", "1", "1", "C++ &lt;developer&gt; (1)"),
    ]
    assert "lorry &lt;b&gt;driver&lt;/b&gt; → <em>" in page
