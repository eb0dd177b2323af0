"""Random titles by week: which count, right as served, right now; a table and two curves."""

import re
from collections.abc import Callable
from datetime import date
from typing import Any

import polars as pl
import pytest
from page_tables import tables
from report_world import PageReader, embed, searching, unmatched

from tasks.io.schemas import RESOLUTIONS, VERDICTS
from tasks.pipeline.report.report_data import ReportData
from tasks.pipeline.report.weeks import random_titles, weeks

CAPTION = "Random titles by week of review"
DRAWN = [
    ("Dough maker", "a", "a", "2026-01-05", "random", "1" * 12, "answered"),
    ("ward boss", "b", "c", "2026-01-11", "random", "1" * 12, "answered"),
    ("code writer", "b", "b", "2026-01-12", "random", "2" * 12, "abstained"),
    ("lorry man", "d", "d", "2026-01-13", "random", "2" * 12, "answered"),
    ("mixer", "a", "a", "2026-01-14", "random", "2" * 12, "answered"),
    ("old file", "a", "a", "2026-01-26", "random", "2" * 12, None),
    ("dough maker", "c", "a", "2026-01-27", "random", "2" * 12, "answered"),
    ("speaks for many", "b", "a", "2026-01-12", "coverage", "2" * 12, "answered"),
    ("nobody knows", "b", None, "2026-01-12", "random", "2" * 12, "answered"),
    ("without a date", "b", "a", None, "random", "2" * 12, "answered"),
    ("trained anyway", "b", "a", "2026-01-12", "random", "2" * 12, "answered"),
]
"""Raw title, prediction, right occupation, when, chosen by, version, served. The second review of
the dough maker is not the first, and the last four do not count."""
NOW = {"dough maker": "baker 🥖", "ward boss": "nurse", "code writer": "programmer"}
"""The titles that the network takes these for; the lorry man, the mixer and the old file are the
baker, too: the first of these is broken."""


def weeks_of(change: Callable[..., ReportData], **parts: Any) -> ReportData:
    """The world of the report with these titles; `parts` change it further."""
    known = [
        (raw, predicted, "correct" if predicted == gold else "incorrect", False, gold)
        for raw, predicted, gold, *_ in DRAWN
    ]
    resolutions = [(*row, row[0] != "trained anyway") for row in known]
    verdicts = [
        (raw, predicted, "correct", gold, "ann", day, way, version, served, False)
        for raw, predicted, gold, day, way, version, served in DRAWN
    ]
    meant = NOW | dict.fromkeys(("lorry man", "mixer", "old file"), "baker 🥖")
    return change(
        search=searching(lambda titles: embed([meant.get(title, title) for title in titles])),
        resolutions=unmatched(resolutions, RESOLUTIONS),
        verdicts=unmatched(verdicts, VERDICTS),
        **parts,
    )


def test_titles_by_hand(change):
    """An abstention is wrong, though its prediction was; the first review of a title counts."""
    data = weeks_of(change)
    one, two, four = date(2026, 1, 5), date(2026, 1, 12), date(2026, 1, 26)
    assert random_titles(data).rows() == [
        ("dough maker", one, "1" * 8, False, True, True),
        ("ward boss", one, "1" * 8, False, False, True),
        ("code writer", two, "2" * 8, True, False, True),
        ("lorry man", two, "2" * 8, False, True, False),
        ("mixer", two, "2" * 8, False, True, True),
        ("old file", four, "2" * 8, None, None, True),
    ]
    again = change(
        search=data.search, resolutions=data.resolutions.reverse(), verdicts=data.verdicts.reverse()
    )
    assert random_titles(again).sort("normalized").equals(random_titles(data).sort("normalized"))


def test_a_title_out_of_the_domain_has_no_answer_now(change):
    """Above the threshold are all but titles of the index, of which none is drawn."""
    data = weeks_of(change, ood_threshold=-5.0)
    assert not random_titles(data)["now"].any()
    assert random_titles(weeks_of(change, ood_threshold=99.0))["now"].sum() == 5


def test_a_row_a_week(change):
    """1 of 2 is [.095, .905] by Wilson, 2 of 2 [.342, 1], 2 of 3 [.208, .939], 1 of 1 [.207, 1]."""
    half, two, some = "0.500 [0.095, 0.905]", "1.000 [0.342, 1.000]", "0.667 [0.208, 0.939]"
    page = weeks(weeks_of(change))
    assert tables(page)[CAPTION] == [
        ("2026-W02", "11111111", "2", "0", half, two),
        ("2026-W03", "<strong>22222222 (new)</strong>", "3", "1", some, some),
        ("2026-W05", "22222222", "1", "", "not recorded", "1.000 [0.207, 1.000]"),
    ]
    words = PageReader(page).words
    assert "Of 5 titles with a record, 3 were answered correctly as served and 4 are now: " in words
    assert "2 repaired, 1 broken" in words
    assert "have no point of the first curve" in words


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


def test_files_without_the_column_served(change):
    """Without any there is no curve; a week of both kinds says of how many its share is."""
    data = weeks_of(change)
    for without, shown in ((pl.lit(value=True), False), (pl.col("raw_title") == "mixer", True)):
        verdicts = data.verdicts.with_columns(served=pl.when(~without).then("served"))
        page = weeks(change(search=data.search, resolutions=data.resolutions, verdicts=verdicts))
        served = [row[4] for row in tables(page)[CAPTION]]
        assert ("<svg" in page) == shown
        assert ("no column “served”. The reviews" in PageReader(page).words) != shown
        assert served[1] == ("0.500 [0.095, 0.905] of 2" if shown else "not recorded")


def test_without_a_reviewed_random_title_it_says_what_to_do(report_data):
    page = weeks(report_data)
    assert "and run rolecall retrain" in PageReader(page).words
    assert not tables(page) and "<svg" not in page
