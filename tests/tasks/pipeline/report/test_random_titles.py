"""Random titles by week: which count, right as served, right now; by hand."""

from __future__ import annotations

from datetime import date

from reviewed_weeks import weeks_of

from tasks.pipeline.report.random_titles import random_titles, weekly


def test_titles_by_hand(change):
    """An abstention is wrong, though its prediction was; the first review of a title counts."""
    rows = random_titles(weeks_of(change)).rows()
    one, two, four = date(2026, 1, 5), date(2026, 1, 12), date(2026, 1, 26)
    assert rows == [
        ("dough maker", one, "1" * 8, False, True, True),
        ("ward boss", one, "1" * 8, False, False, True),
        ("code writer", two, "2" * 8, True, False, True),
        ("lorry man", two, "2" * 8, False, True, False),
        ("mixer", two, "2" * 8, False, True, True),
        ("old file", four, "2" * 8, None, None, True),
    ]


def test_reviews_in_another_order_give_the_same(change):
    data = weeks_of(change)
    again = change(search=data.search, judged=data.judged.reverse(), reviews=data.reviews.reverse())
    assert random_titles(again).sort("normalized").equals(random_titles(data).sort("normalized"))


def test_weeks_by_hand(change):
    """Only the second week has a model that the one before had not."""
    assert weekly(random_titles(weeks_of(change))).rows() == [
        (date(2026, 1, 5), ["1" * 8], 2, 2, 0, 1, 2, False),
        (date(2026, 1, 12), ["2" * 8], 3, 3, 1, 2, 2, True),
        (date(2026, 1, 26), ["2" * 8], 1, 0, 0, 0, 1, False),
    ]


def test_a_title_out_of_the_domain_has_no_answer_now(change):
    """Above the threshold are all but titles of the index, of which none is drawn."""
    data = weeks_of(change, ood_threshold=-5.0)
    assert not random_titles(data)["now"].any()
    assert random_titles(weeks_of(change, ood_threshold=99.0))["now"].sum() == 5
