"""The invented world's reviewers, worked by hand.

On "ward sister" ann says nurse, labels and bob say baker: of three pairs one agrees. On "see below"
ann and bob agree. So ann agrees in 1 of 3 pairs, bob in 2 of 3, labels in 1 of 2; nurse in 0 of 2,
baker in 1 of 3, not a job title in 1 of 1.
"""

from __future__ import annotations

from dataclasses import replace

from page_tables import tables

from tasks.pipeline.report.sections.reviewers import reviewers


def test_agreement(report_data):
    made = tables(reviewers(report_data))
    assert made["Agreement by reviewer"] == [
        ("ann", "3", "3", "0.333"),
        ("labels of inputs", "1", "2", "0.500"),
        ("&lt;bob&gt;", "2", "3", "0.667"),
    ]
    assert made["Agreement by occupation: 2 occupations with less than all"] == [
        ("nurse", "2", "0.000"),
        ("baker 🥖", "3", "0.333"),
    ]
    assert made["Different answers: 1 title answered in two ways"] == [
        ("Ward sister!", "&lt;bob&gt;: baker 🥖; ann: nurse; labels of inputs: baker 🥖")
    ]


def test_nobody_to_compare(report_data):
    alone = replace(report_data, reviews=report_data.reviews.filter(reviewer_id="ann"))
    assert "No title was answered by two reviewers" in reviewers(alone)
    agreeing = replace(report_data, reviews=report_data.reviews.filter(raw_title="see below"))
    page = reviewers(agreeing)
    assert "They agree on every title" in page and "Who said what" not in page
