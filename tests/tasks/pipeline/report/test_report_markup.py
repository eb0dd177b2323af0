"""Escaping: whatever goes in as text comes out as the same text."""

from __future__ import annotations

from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from tasks.pipeline.report.markup import Html, join, safe, tag

ALLOWED = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Cn", "Co"]))


class Text(HTMLParser):
    """The text and the elements that a browser would see."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.text, self.attributes, self.tags = "", [], []
        self.feed(page)
        self.close()

    def handle_data(self, data):
        self.text += data

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs


@given(ALLOWED, ALLOWED)
def test_text_and_attributes_survive(content, attribute):
    seen = Text(tag("td", content, title=attribute))
    assert seen.text == content
    assert seen.tags == ["td"]
    assert seen.attributes == [("title", attribute)]


@given(st.text())
def test_any_string_stays_text_that_can_be_written(anything):
    assert Text(safe(anything)).tags == []
    safe(anything).encode("utf-8")


def test_characters_that_html_forbids_are_replaced():
    """Replace a control, a surrogate half and a noncharacter; tab and emoji stay."""
    assert safe("a\x00b\ud800c\ufffed\te\x85🥖") == "a\ufffdb\ufffdc\ufffdd\te\ufffd🥖"


def test_markup_is_not_escaped_again_but_its_sum_with_text_is():
    bold = tag("b", "x & y")
    assert bold == "<b>x &amp; y</b>"
    assert safe(bold) is bold
    assert safe(bold + "<i>") == "&lt;b&gt;x &amp;amp; y&lt;/b&gt;&lt;i&gt;"


def test_join_escapes_its_parts_only():
    assert join(["<", Html("<br>"), "&"], "<hr>") == "&lt;<hr><br><hr>&amp;"
