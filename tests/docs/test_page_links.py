"""Links of the repository as the site has them."""

from __future__ import annotations

from pathlib import Path

import pytest
from page_links import relinked

COPIED = {"index.md": "README.md", "contributing.md": "CONTRIBUTING.md"}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository with two files that the site does not have."""
    (tmp_path / "params.yaml").touch()
    (tmp_path / "LICENSE").touch()
    return tmp_path


@pytest.mark.parametrize(
    ("source", "page", "link", "expected"),
    [
        ("README.md", "index.md", "[a](docs/guides/b.md#c)", "[a](guides/b.md#c)"),
        ("README.md", "index.md", "![a](docs/way.svg)", "![a](way.svg)"),
        ("README.md", "index.md", "[a](CONTRIBUTING.md)", "[a](contributing.md)"),
        ("README.md", "index.md", "the [licence](LICENSE)", "the licence"),
        ("docs/guides/b.md", "guides/b.md", "[a](../../README.md#x)", "[a](../index.md#x)"),
        ("docs/guides/b.md", "guides/b.md", "[a](../../params.yaml)", "a"),
        ("docs/guides/b.md", "guides/b.md", "[a](c.md)", "[a](c.md)"),
        ("docs/guides/b.md", "guides/b.md", "[a](../../nowhere)", "[a](../../nowhere)"),
        ("docs/guides/b.md", "guides/b.md", "[a](#c) [b](https://e.org/x)", None),
    ],
)
def test_a_link_leads_to_the_page(
    root: Path, source: str, page: str, link: str, expected: str | None
) -> None:
    assert relinked(link, root, source, page, COPIED) == (expected or link)
