"""The README's generated tables: example answers, the benchmark, answer columns, stages."""

from __future__ import annotations

from pathlib import Path
from typing import get_args, get_type_hints

import yaml

from benchmarks.pages.tables import markdown
from benchmarks.product.page import FILE, readme_block
from benchmarks.results import FOLDER
from models.served.answers import Answer, columns

README, STAGES = Path("README.md"), Path("dvc.yaml")
WORDS: dict[type, str] = {str: "text", float: "number", bool: "yes/no"}
LISTS: dict[type, str] = {str: "text", float: "numbers"}
"""Types of the answer's columns, in words: of a value, of a list's members."""


def readme(text: str, folder: Path = FOLDER, stages: Path = STAGES) -> str:
    """Return the README with its tables made anew."""
    examples = (folder / "answers.md").read_text(encoding="utf-8").strip()
    blocks = {
        "answers": examples,
        "benchmark": readme_block(folder / FILE.name),
        "answer": answer_table(),
        "stages": stage_table(stages),
    }
    for name, content in blocks.items():
        text = between_markers(text, name, content)
    return text


def answer_table() -> str:
    """Write the columns of the registered model's answer: type and meaning of each."""
    declared = get_type_hints(Answer)
    lines = []
    for name, (kind, is_list, meaning) in columns().items():
        word = f"list of {LISTS[kind]}" if is_list else WORDS[kind]
        if type(None) in get_args(declared[name]):
            word += ", may be null"
        lines.append((f"`{name}`", word, meaning))
    return markdown(("column", "type", "meaning"), lines)


def stage_table(stages: Path = STAGES) -> str:
    """Write the stages of `dvc.yaml` with what each makes."""
    graph = yaml.safe_load(stages.read_text(encoding="utf-8"))["stages"]
    rows = [(f"`{name}`", stage.get("do", stage)["desc"]) for name, stage in graph.items()]
    return markdown(("stage", "makes"), rows)


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
