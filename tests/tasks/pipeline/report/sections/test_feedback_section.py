"""What was judged, decided and learned: every count beside its words; before and now by hand."""

from __future__ import annotations

import polars as pl
import pytest
from frames_of import frame_of
from page_tables import tables
from report_world import JUDGED_ROWS, embed, searching

from tasks.io.schemas import REVIEWS
from tasks.pipeline.report.sections.feedback import (
    PREDICTIONS,
    REPAIRS,
    ROWS,
    USES,
    feedback,
)

JUDGED_TITLES = [row[0] for row in JUDGED_ROWS]


def test_files_and_why_rows_were_refused(report_data):
    assert tables(feedback(report_data))["Files of feedback"] == [
        ("feedback/&lt;ann&gt;.csv", "25", "5", "empty raw_title (2), unknown occupation (3)"),
        ("data/simulate_feedback/feedback.csv", "4", "0", ""),
    ]


def test_every_count_stands_beside_its_words(report_data):
    rows = dict(
        row for some in tables(feedback(report_data)).values() for row in some if len(row) == 2
    )
    counts = report_data.feedback
    for meaning, values in ((ROWS | PREDICTIONS | USES, counts), (REPAIRS, counts["repairs"])):
        assert {reviews: rows[reviews] for reviews in meaning.values()} == {
            reviews: str(values[name]) for name, reviews in meaning.items()
        }


@pytest.fixture
def answered(change):
    """Make titles be embedded as the alias that the network answers: a, c and a."""
    meant = {"bread baker": "bread baker", "programmer <b>": "nurse", "ward sister": "bread baker"}
    return change(search=searching(lambda titles: embed([meant.get(t, t) for t in titles])))


def test_before_and_now_by_hand(answered):
    """Of two that were learned from one was repairs and one broken; of the gate's one was broken.

    The fourth title counts nowhere: nobody knows its occupation. That the third was right before
    though another occupation is right is what no run gives; it shows that `now` asks for that one.
    """
    made = tables(feedback(answered))
    assert made["Judged titles with a known occupation, before and now"] == [
        ("learned from", "2", "0.500", "0.500", "1", "1"),
        ("kept for the gate", "1", "1.000", "1.000", "0", "0"),
    ]
    assert made["Right now, wrong before: 1 title"] == [
        ("bread baker", "baker 🥖", "C++ &lt;developer&gt;", "baker 🥖")
    ]
    assert made["Wrong now, right before: 1 title"] == [
        ("programmer &lt;b&gt;", "C++ &lt;developer&gt;", "C++ &lt;developer&gt;", "nurse")
    ]


@pytest.mark.parametrize(
    ("drawn", "sentence"),
    [
        (["ward sister", "bread baker", "lorry driver"], "Of 2 titles of random inputs"),
        (["ward sister"], "1.000 [1.000, 1.000] correctly"),
        (["programmer <b>"], "0.000 [0.000, 0.000] correctly"),
        ([], "No reviewed title was drawn at random"),
    ],
)
def test_random_titles_estimate_the_accuracy(answered, change, drawn, sentence):
    """The first two are right now; nobody knows the occupation of the lorry driver."""
    of_titles = pl.col("raw_title").is_in(drawn)
    marked = frame_of(
        [(title, None, "correct", None, "ann", *[None] * 4, False) for title in JUDGED_TITLES],
        REVIEWS,
    ).with_columns(chosen_by=pl.when(of_titles).then(pl.lit("random")))
    assert sentence in feedback(change(search=answered.search, reviews=marked))


def test_a_mix_that_learns_from_no_feedback_says_so(report_data, change):
    page = feedback(change(feedback=None, judged=report_data.judged.clear()))
    assert "This mix learns from no feedback." in page
    assert not tables(page)


def test_no_feedback_at_all(report_data, change):
    counts = report_data.feedback | {"rows_read": {}, "rejected": {}}
    page = feedback(change(feedback=counts, judged=report_data.judged.clear()))
    assert "There was no file of feedback." in page
    assert "Of no judged title the right occupation is known." in page
    assert not [caption for caption in tables(page) if "before" in caption]
