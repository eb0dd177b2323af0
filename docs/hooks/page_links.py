"""Links as they work in the repository to links as they work on the site."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from pathlib import Path

LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)#\s:]+)(#[^)\s]*)?\)")


def relinked(markdown: str, root: Path, source: str, page: str, copied: Mapping[str, str]) -> str:
    """Return `markdown` with its relative links as seen from its page.

    A link to a file that the site does not have becomes its text. A link to no file stays, so that
    a strict build fails.

    Args:
        markdown: text of one page.
        root: of the repository.
        source: file that holds the text, as seen from `root`.
        page: page that shows it, as seen from `docs/`.
        copied: pages that show files beside `docs/`, and these files.
    """
    pages = {file: name for name, file in copied.items()}

    def link(match: re.Match[str]) -> str:
        image, text, target, anchor = match.groups(default="")
        file = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
        if file in pages:
            place = pages[file]
        elif file.startswith("docs/"):
            place = file.removeprefix("docs/")
        else:
            return text if (root / file).exists() else match[0]
        return (
            f"{image}[{text}]({posixpath.relpath(place, posixpath.dirname(page) or '.')}{anchor})"
        )

    return LINK.sub(link, markdown)
