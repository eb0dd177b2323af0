"""The whole page: safe, self-contained, the same bytes again, and whole on poor data."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from page_tables import tables
from report_world import PageReader

from tasks.pipeline.report.page import section, strong
from tasks.pipeline.report.stage import SECTIONS, report

ALLOWED = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Cn", "Co"]))

TAGS = {"p", "div", "strong", "table", "caption", "thead", "tbody", "tr", "th", "td"}


@pytest.fixture(scope="module")
def page(report_data):
    return report(report_data).decode()


@given(ALLOWED, ALLOWED)
def test_text_in_a_cell_survives(plain, bold):
    reader = PageReader(section("data", rows=[("", plain, strong(bold))]))
    assert plain + bold in reader.text
    assert reader.tags == TAGS


@given(st.text())
def test_any_string_stays_text_that_can_be_written(anything):
    made = section("data", rows=[(anything, strong(anything))])
    assert "script" not in PageReader(made).tags
    made.encode("utf-8")


def test_characters_that_html_forbids_are_replaced():
    """Replace a control, a surrogate half and a noncharacter; tab and emoji stay."""
    ((name, *_),) = tables(section("data", rows=[["a\x00b\ud800c\ufffed\te\x85🥖"]])).popitem()[1]
    assert name == "a\ufffdb\ufffdc\ufffdd\te\ufffd🥖"


@pytest.mark.thorough
def test_titles_cannot_become_markup(page):
    reader = PageReader(page)
    assert "script" not in reader.tags
    assert "<script" not in page and "<b>driver" not in page
    for text in ("lorry <b>driver</b>", "C++ <developer>", "unknown <occupation>: 2"):
        assert text in reader.text


@pytest.mark.thorough
def test_equal_material_in_any_order_of_rows_gives_equal_bytes(page, report_data, change):
    """Shuffle all but the history, which has an order of its own; the index sorts itself."""
    shuffled = {
        name: getattr(report_data, name).reverse()
        for name in ("aliases", "occupations", "queries", "scores", "run")
    }
    assert report(change()).decode() == report(change(**shuffled)).decode() == page


@pytest.mark.thorough
def test_nothing_is_loaded_from_outside(page):
    """Every reference is to an identifier of the page itself, which occurs once."""
    attributes = PageReader(page).attributes
    identifiers = [value for name, value in attributes if name == "id"]
    assert len(identifiers) == len(set(identifiers))
    outside = {"src", "xlink:href", "data", "srcset", "action"}
    assert not outside & {name for name, _ in attributes}
    links = [value for name, value in attributes if name == "href"]
    assert links and all(link.startswith("#") for link in links)
    for forbidden in ("http:", "https:", "//", "@import", "<link", "<img"):
        assert forbidden not in page.replace("'//'", "")
    wanted = {link[1:] for link in links} | set(re.findall(r"url\(#([^)]+)\)", page))
    assert wanted <= set(identifiers) and set(re.findall(r"url\((.)", page)) <= {"#"}


@pytest.mark.thorough
def test_every_section_is_there_and_no_path_of_an_input_file(page):
    reader = PageReader(page)
    assert set(SECTIONS) <= {value for name, value in reader.attributes if name == "id"}
    assert ("lang", "en") in reader.attributes
    assert {"caption", "figcaption", "nav", "main", "h1", "h2"} <= reader.tags
    assert len(re.findall("<th[ >]", page)) == len(re.findall('<th [^>]*scope="', page))
    assert "secret" not in page


@pytest.mark.thorough
def test_poor_data(report_data, empty, change):
    """No test has a query; and a network without a step, whose losses are NaN."""
    words = PageReader(report(empty).decode()).words
    assert words.count("No test has a query.") == 1
    assert "No occupation has a wrong first answer" in words
    untrained = report(change(history=report_data.history.head(1))).decode()
    assert "The network was not trained" in untrained
    assert "nan" not in untrained.lower().replace("finance", "")
