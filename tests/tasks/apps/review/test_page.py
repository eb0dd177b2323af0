"""The page as a document: what titles say stays data, and the policy lets our own script run."""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from typing import Any

import pytest
from queues import queue_of

from tasks.apps.review.page import Occupation, page

OCCUPATIONS = [
    Occupation("nurse", "Nurse </script>", ["Nurse <!--"], ["2", "22"]),
    Occupation("baker", "Baker", [], []),
]


class Elements(HTMLParser):
    """What stands in each element of a kind, and all attributes."""

    def __init__(self) -> None:
        super().__init__()
        self.scripts: list[str] = []
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href")]
        if tag == "script":
            self.scripts.append("")

    def handle_data(self, data: str) -> None:
        if self.lasttag == "script" and self.cdata_elem == "script":
            self.scripts[-1] += data


def elements(document: str) -> Elements:
    found = Elements()
    found.feed(document)
    found.close()
    return found


def data_of(document: str) -> dict[str, Any]:
    return dict(json.loads(elements(document).scripts[0]))


@pytest.mark.parametrize(
    "title",
    ["</script><script>alert(1)</script>", "<!-- <script>", "Führungskraft 🍞\u2028", "{{script}}"],
)
def test_a_title_stays_data(title: str) -> None:
    document = page(queue_of(title), OCCUPATIONS, "models:/rolecall/1")
    assert len(elements(document).scripts) == 2
    data = data_of(document)
    assert data["items"][0]["title"] == title
    assert data["items"][0]["predicted"] == 0
    assert data["items"][0]["alternatives"] == [[0, "Nurse", 0.9], [1, "Baker", 0.5]]
    assert data["occupations"] == [[*one] for one in OCCUPATIONS]


def test_the_page_names_the_folder_for_the_file() -> None:
    document = page(queue_of("nurse"), OCCUPATIONS, "models:/rolecall/1", "/clone/feedback/esco")
    assert data_of(document)["feedback"] == "/clone/feedback/esco"


def test_the_policy_knows_our_script_and_style_and_nothing_comes_from_outside() -> None:
    document = page(queue_of("nurse"), OCCUPATIONS, "models:/rolecall/1")
    style = re.search(r"<style>(.*?)</style>", document, re.DOTALL)
    assert style
    for text in (elements(document).scripts[1], style[1]):
        known = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"'sha256-{known}'" in document
    assert "default-src 'none'" in document
    assert elements(document).addresses == ["data:,"]
    assert not re.search(r"https?://", document)


def test_another_queue_has_another_name_in_the_browser() -> None:
    """Equal queues share it: the page may be made again."""
    names = [
        data_of(page(queue_of(title), OCCUPATIONS, model))["queue"]
        for title, model in (("a", "m/1"), ("a", "m/2"), ("b", "m/1"))
    ]
    assert names[0] == names[1] != names[2]


def test_an_empty_queue_is_a_page_too() -> None:
    assert data_of(page(queue_of(), OCCUPATIONS, "models:/rolecall/1"))["items"] == []
