"""The whole page: safe, self-contained, the same bytes again, and whole on poor data."""

from __future__ import annotations

import re

import pytest
from report_world import read

from tasks.pipeline.report.page import SECTIONS, report

pytestmark = pytest.mark.thorough


@pytest.fixture(scope="module")
def page(report_data):
    return report(report_data)


def test_titles_cannot_become_markup(page):
    reader = read(page)
    assert "script" not in reader.tags
    assert b"<script" not in page
    assert b"<b>driver" not in page
    text = "".join(reader.text)
    assert "lorry <b>driver</b>" in text
    assert "C++ <developer>" in text
    assert "unknown <occupation>: 2" in text


def test_equal_material_gives_equal_bytes(page, change):
    assert report(change()) == page


def test_frames_in_another_order_of_rows_give_equal_bytes(page, report_data, change):
    """Shuffle all but the history, which has an order of its own; the index sorts itself."""
    shuffled = {
        name: getattr(report_data, name).reverse()
        for name in ("aliases", "occupations", "queries", "scores", "run")
    }
    assert report(change(**shuffled)) == page


def test_nothing_is_loaded_from_outside(page):
    """Find every reference of the self-contained page in the page itself."""
    references = [
        value
        for name, value in read(page).attributes
        if name in {"src", "href", "xlink:href", "data", "srcset", "action"}
    ]
    assert references
    assert all(reference.startswith("#") for reference in references)
    for forbidden in (b"http:", b"https:", b"//", b"@import", b"<link", b"<img"):
        assert forbidden not in page.replace(b"'//'", b"")
    assert set(re.findall(rb"url\((.)", page)) <= {b"#"}


def test_references_and_identifiers_match(page):
    """Check that identifiers are distinct, and that each reference has its target."""
    attributes = read(page).attributes
    identifiers = [value for name, value in attributes if name == "id"]
    assert len(identifiers) == len(set(identifiers))
    wanted = {value[1:] for name, value in attributes if name == "href"}
    wanted |= set(re.findall(r"url\(#([^)]+)\)", page.decode()))
    assert wanted <= set(identifiers)


def test_no_path_of_an_input_file(page):
    assert b"secret" not in page


def test_every_section_is_there(page):
    reader = read(page)
    identifiers = {value for name, value in reader.attributes if name == "id"}
    assert set(SECTIONS) <= identifiers
    assert ("lang", "en") in reader.attributes
    assert {"caption", "figcaption", "nav", "main", "h1", "h2"} <= reader.tags
    assert len(re.findall(rb"<th[ >]", page)) == page.count(b"<th scope=") + page.count(
        b'<th colspan="6" scope="rowgroup">'
    )


def test_data_set_without_a_test_query(empty):
    text = "".join(read(report(empty)).text)
    assert text.count("No test has a query.") == 1
    assert "No occupation has a wrong first answer" in text


def test_untrained_network_has_no_curve(report_data, change):
    """Train with max_steps 0: the history holds step 0 only, whose losses are NaN."""
    page = report(change(history=report_data.history.head(1)))
    assert b"The network was not trained" in page
    assert b"nan" not in page.lower().replace(b"finance", b"")
