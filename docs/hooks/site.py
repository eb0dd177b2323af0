"""The events of MkDocs: pages made from code, pages from files beside `docs/`, and their links.

`mkdocs.yml` names this module. Pages of section Reference are made from the code at build time, so
no copy of a column, parameter or option can grow old.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mkdocs.structure.files import File
from page_links import relinked
from reference_answer import answer_page
from reference_cli import cli_page
from reference_parameters import parameters_page
from reference_python import python_page
from reference_stages import stages_page

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[2]
COPIED = {
    "index.md": "README.md",
    "contributing.md": "CONTRIBUTING.md",
    "changelog.md": "CHANGELOG.md",
}
"""Pages of the site, and the files beside `docs/` that they show."""
GENERATED = {
    "reference/answer.md": answer_page,
    "reference/parameters.md": parameters_page,
    "reference/cli.md": cli_page,
    "reference/python.md": python_page,
    "reference/stages.md": stages_page,
}


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """List every study in the navigation; `mkdocs.yml` cannot know their names."""
    studies = [
        {path.stem.replace("_", " "): f"results/{path.name}"}
        for path in sorted((ROOT / "docs/results").glob("*.md"))
    ]
    results = next(entry["Results"] for entry in config.nav or [] if "Results" in entry)
    results.append({"Studies": studies})
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are no file of `docs/`."""
    for page, source in COPIED.items():
        text = (ROOT / source).read_text(encoding="utf-8")
        if page == "index.md":  # its column would list this page alone
            text = f"---\nhide: [navigation]\n---\n{text}"
        files.append(File.generated(config, page, content=text))
    for page, write in GENERATED.items():
        files.append(File.generated(config, page, content=write(ROOT)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Let links between files of the repository lead to pages of the site."""
    name = page.file.src_uri
    return relinked(markdown, ROOT, COPIED.get(name, f"docs/{name}"), name, COPIED)
