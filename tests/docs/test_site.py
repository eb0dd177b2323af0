"""The documentation site builds strictly, its links lead somewhere, and it needs no network."""

import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from background import ROOT, ran

pytestmark = pytest.mark.slow
LOADS = {"script": "src", "img": "src", "iframe": "src", "source": "src", "object": "data"}
"""Elements that load a file, and the attribute that names it; `link` and styles besides."""
NETWORK = re.compile(r"""(?:url\(\s*["']?|@import\s*["'])(?:https?:)?//""")
SCRIPT = re.compile(r"""(?:\bimport\(|importScripts\(|\bfetch\()\s*["'](?:https?:)?//""")


class Html(HTMLParser):
    """Collects a page's links, its loaded files and its anchors."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.anchors: set[str] = set()
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value for name, value in attrs if value}
        self.anchors |= {values[name] for name in ("id", "name") if name in values}
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        if tag == "link" and "href" in values:
            self.loads.append(values["href"])
        if LOADS.get(tag) in values:
            self.loads.append(values[LOADS[tag]])
        self.loads += re.findall(r"url\(([^)]*)\)", values.get("style", ""))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the site; a warning ends the build."""
    folder = tmp_path_factory.mktemp("site")
    command = (sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder))
    done = ran(ROOT, *command, NO_MKDOCS_2_WARNING="1")
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Html]:
    """Read every page."""
    return {page: Html(page) for page in site.rglob("*.html")}


def broken(site: Path, pages: dict[Path, Html]) -> Iterator[str]:
    """Yield every link of a page to no file or no anchor; addresses elsewhere are passed over."""
    for page, html in pages.items():
        for link in html.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc or page.name == "404.html":
                continue
            target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            target = target / "index.html" if target.is_dir() else target
            anchors = {"", *(pages[target].anchors if target in pages else ())}
            if not target.is_file() or (target in pages and parts.fragment not in anchors):
                yield f"{page.relative_to(site)}: {link}"


def test_every_link_leads_to_a_page_and_an_anchor(site: Path, pages: dict[Path, Html]) -> None:
    assert len(pages) > 30
    assert list(broken(site, pages)) == []
    assert not list(site.rglob("*.py")), "files of the build"


def test_no_page_loads_anything_from_a_network(site: Path, pages: dict[Path, Html]) -> None:
    for page, html in pages.items():
        outside = [one for one in html.loads if urlsplit(one).netloc]
        assert outside == [], page
    for style in site.rglob("*.css"):
        assert not NETWORK.search(style.read_text(encoding="utf-8")), style
    for script in site.rglob("*.js"):
        assert not SCRIPT.search(script.read_text(encoding="utf-8")), script
