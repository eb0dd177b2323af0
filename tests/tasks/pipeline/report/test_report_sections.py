"""The figures of the sections, against loops and values worked out by hand."""

from __future__ import annotations

import re

import numpy as np
import polars as pl
import pytest

from models.metrics.intervals import Interval
from tasks.io.mixes import MIXES
from tasks.io.schemas import HISTORY, SCORES
from tasks.pipeline.report.names import (
    in_order,
    listed,
    mix_words,
    share,
    signed,
    slice_name,
)
from tasks.pipeline.report.sections.learning import UNLEARNED, best_look, learning
from tasks.pipeline.report.sections.results import Comparison, compare, results, standing


def test_network_is_compared_query_by_query(report_data):
    """Judge annotations: the network is right on 1 of 4, the n-gram matcher on none: +0.25."""
    by_cell = {(c.test, c.baseline): c for c in compare(report_data)}
    assert by_cell["annotations", "ngram"].difference.value == 0.25
    assert by_cell["annotations", "ngram"].difference.low == 0
    assert by_cell["annotations", "ngram"].verdict == "inconclusive"
    typos = by_cell["typos", "untrained"]
    assert typos.difference == Interval(1.0, 1.0, 1.0)
    assert typos.verdict == "better"


def test_a_pairing_does_not_depend_on_the_order_of_rows(change):
    """Resample by place, so the places have to be those of the sorted query ids."""
    rng = np.random.default_rng(1)
    scores = pl.DataFrame(
        [
            (system, "typos", f"q{query}", hit, hit, hit, hit)
            for system in ("typos", "ngram")
            for query, hit in enumerate(rng.random(60).tolist())
        ],
        schema=dict(SCORES),
        orient="row",
    )
    mixed = scores.sample(fraction=1, shuffle=True, seed=3)
    assert compare(change(scores=mixed)) == compare(change(scores=scores))


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


def test_every_mix_has_its_words():
    four = "the base taxonomy, typos, synonyms, extra words"
    assert [mix_words(mix) for mix in MIXES] == [
        "the base taxonomy",
        "the base taxonomy and typos",
        "the base taxonomy, typos and synonyms",
        "the base taxonomy, typos, synonyms and extra words",
        f"{four} and verdicts",
        f"{four}, verdicts and corrections",
    ]
    assert slice_name("source:pair_unseen") == "synonym never seen"
    assert slice_name("source:unheard") == "unheard"


@pytest.mark.thorough
def test_kept_step_is_the_first_of_the_best_looks(report_data):
    assert best_look(report_data.history) == (50, 0.6)
    assert "step 50 of 100" in learning(report_data)
    assert best_look(pl.DataFrame(schema=dict(HISTORY))) is None


@pytest.mark.thorough
def test_a_network_that_did_not_learn_is_said_to_be_one(report_data, change):
    """Give every later look the score of the one before training."""
    assert UNLEARNED not in learning(report_data)
    first = report_data.history["valid_score"][0]
    history = report_data.history.with_columns(valid_score=pl.lit(first))
    page = learning(change(history=history))
    assert UNLEARNED in page
    assert "step 0 of 100" in page


@pytest.mark.thorough
def test_steps_on_verdicts_follow_the_kept_step(report_data, change):
    """No validation query judges them, so they have no score and are the served ones."""
    assert "steps on people" not in learning(report_data)
    nan = float("nan")
    rows = [(220, 0.9, 0.4, 0.5, nan)]
    more = pl.DataFrame(rows, schema=dict(HISTORY), orient="row")
    page = learning(change(history=pl.concat([report_data.history, more])))
    assert "step 50 of 100" in page
    assert "120 steps on people" in page


def points_of(drawing: str, colour: str) -> list[float]:
    """Heights of the points of a colour's curve, downwards; the legend's line is not clipped."""
    paths = re.findall(rf'<path d="([^"]*)" clip-path[^>]*stroke: var\(--{colour}\)', drawing)
    return [float(y) for y in re.findall(r"[ML] [-\d.]+ ([-\d.]+)", "".join(paths))]


@pytest.mark.thorough
def test_terms_below_zero_are_drawn_inside_the_axes(report_data, change):
    """Give the term of similar pairs -13 and -15, as `info_nce` does: both are on the drawing."""
    nan = float("nan")
    history = report_data.history.with_columns(
        loss=pl.Series([nan, 1.5, 0.2]),
        loss_similar=pl.Series([nan, -13.0, -15.0]),
        loss_dissimilar=pl.Series([nan, 14.5, 15.2]),
    )
    page = learning(change(history=history))
    drawing = next(split for split in page.split("<figure>") if "similar pairs" in split)
    height = float(re.search(r'viewBox="0 0 [\d.]+ ([\d.]+)"', drawing)[1])
    heights = points_of(drawing, "blue")
    assert len(heights) == 2 and heights[0] < heights[1]
    assert all(0 < y < height for y in heights)


def test_numbers_and_lists_as_they_are_read():
    assert (signed(0.0171), signed(-0.25), signed(-0.0001)) == ("+0.017", "−0.250", "0.000")
    assert share(0.9335) == "0.933"  # 0.9335 is 0.93349999… in binary
    assert (listed([]), listed(["a"]), listed(["a", "b", "c"])) == ("", "a", "a, b and c")
    assert in_order(["z", "ngram", "0", "z"], ("tfidf", "ngram")) == ["ngram", "0", "z"]
