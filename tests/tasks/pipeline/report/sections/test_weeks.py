"""The section on weeks: its table, its curves, and weeks of which less is known."""

from __future__ import annotations

import re

import polars as pl
import pytest
from page_tables import tables
from reviewed_weeks import weeks_of, without_served

from tasks.pipeline.report.sections.weeks import NONE, weeks

CAPTION = "Random titles by week of review"
OLD = "2026-W05"


def test_a_row_a_week(change):
    """1 of 2 is [.095, .905] by Wilson, 2 of 2 [.342, 1], 2 of 3 [.208, .939], 1 of 1 [.207, 1]."""
    half, two, some = "0.500 [0.095, 0.905]", "1.000 [0.342, 1.000]", "0.667 [0.208, 0.939]"
    page = weeks(weeks_of(change))
    assert tables(page)[CAPTION] == [
        ("2026-W02", "11111111", "2", "0", half, two),
        ("2026-W03", "<strong>22222222 (new)</strong>", "3", "1", some, some),
        (OLD, "22222222", "1", "", "not recorded", "1.000 [0.207, 1.000]"),
    ]
    assert "Of 5 titles with a record, 3 were answered correctly as served and 4 are now: " in page
    assert "2 repaired, 1 broken" in page
    assert "have no point of the first curve" in page


def curve(page: str, colour: str) -> list[tuple[float, float]]:
    """Points of a curve, right and downwards; the bars are thinner, the legend is not clipped."""
    style = rf"clip-path.*stroke: var\(--{colour}\); stroke-width: 1\.8"
    paths = re.findall(r'<path d="([^"]*)"([^>]*)>', page)
    (drawn,) = [path for path, rest in paths if re.search(style, rest)]
    return [(float(x), float(y)) for x, y in re.findall(r"[ML] ([-\d.]+) ([-\d.]+)", drawn)]


def test_two_curves_with_the_weeks_as_far_apart_as_they_are(change):
    """As served the share rises, now it falls and rises again; a week lies between the last two."""
    page = weeks(weeks_of(change))
    served, now = curve(page, "blue"), curve(page, "orange")
    assert len(served) == 2 and served[1][1] < served[0][1], "upwards, and no third week"
    assert len(now) == 3 and now[0][1] == now[2][1] < now[1][1]
    assert now[2][0] - now[1][0] == pytest.approx(2 * (now[1][0] - now[0][0]))
    assert page.count(">new model<") == 1 and page.count('role="img"') == 1
    assert "the table below has the figures" in page


def test_files_without_the_column_have_no_curve(change):
    data = weeks_of(change)
    old = change(
        search=data.search, judged=data.judged, reviews=without_served(data, pl.lit(value=True))
    )
    page = weeks(old)
    assert "<svg" not in page
    assert "the files of these weeks have no column “served”" in page
    assert [row[4] for row in tables(page)[CAPTION]] == ["not recorded"] * 3


def test_a_week_of_both_kinds_says_of_how_many(change):
    data = weeks_of(change)
    reviews = without_served(data, pl.col("raw_title") == "mixer")
    page = weeks(change(search=data.search, judged=data.judged, reviews=reviews))
    assert tables(page)[CAPTION][1][4] == "0.500 [0.095, 0.905] of 2"


def test_without_a_reviewed_random_title_it_says_what_to_do(report_data):
    page = weeks(report_data)
    assert NONE in page and not tables(page) and "<svg" not in page
