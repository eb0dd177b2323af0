"""The README's generated blocks: example answers and the benchmark."""

from __future__ import annotations

from pathlib import Path

from benchmarks.product.page import readme_block
from benchmarks.results import FOLDER

README = Path("README.md")


def readme(text: str, folder: Path = FOLDER) -> str:
    """Return the README with its tables made anew."""
    examples = (folder / "answers.md").read_text(encoding="utf-8").strip()
    blocks = {
        "answers": examples,
        "benchmark": readme_block(folder),
    }
    for name, content in blocks.items():
        text = between_markers(text, name, content)
    return text


def between_markers(text: str, name: str, content: str) -> str:
    """Return `text` with `content` between ``<!-- name:begin -->`` and ``<!-- name:end -->``.

    Raises:
        ValueError: a marker is missing or stands twice.
    """
    begin, end = f"<!-- {name}:begin -->", f"<!-- {name}:end -->"
    if text.count(begin) != 1 or text.count(end) != 1 or text.index(begin) > text.index(end):
        raise ValueError(f"the page needs {begin} and, after it, {end}, once each")
    before, _, rest = text.partition(begin)
    return f"{before}{begin}\n{content}\n{end}{rest.partition(end)[2]}"
