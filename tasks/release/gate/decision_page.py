"""The page of a version: the report with the gate's decision on top, `data/gate/report.html`.

In: `data/report/report.html` of the stage `report`, and `data/gate/decision.json`
(`tasks/release/registry/promote.py` lists its keys), which the gate writes once the version is
registered. The page is no output of a stage: the same report stands below every version that was
registered from it.
"""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from models.reproducibility.atomic_write import write_bytes
from tasks.io.command import run
from tasks.pipeline.report.markup import Html, NumberHead, paragraph, section, table, tag
from tasks.pipeline.report.names import count, counted
from tasks.pipeline.report.page import with_first_section
from tasks.release.gate.changed_titles import changed_sections, impact_section

REPORT = Path("data/report/report.html")
DECISION = Path("data/gate/decision.json")
PAGE = Path("data/gate/report.html")
MARKS = re.compile(r"\*\*|`")
NO_RUN = (
    "No bulk run was found to draw titles from that the two models answer differently. After the "
    "next rolecall normalize, rolecall review and rolecall apply-feedback, queues ask for some."
)


def decision_page(report: str, decision: dict[str, Any]) -> str:
    """Put the decision before the first section of the report.

    Raises:
        ValueError: `report` is not the stage's page.
    """
    return with_first_section(report, "decision", "Decision", decision_section(decision))


def decision_section(decision: dict[str, Any]) -> Html:
    """Make section `decision`: version, date, what was decided and why, and what changed."""
    word = "promoted to champion" if decision["promoted"] else "not promoted"
    if decision.get("undecided") and not decision["promoted"]:
        word = "not yet promoted, waits for people's replies"
    registered = datetime.fromisoformat(decision["registered_at"]).astimezone(UTC)
    return section(
        "decision",
        f"{decision['name']} version {decision['version']}: {word}",
        paragraph(
            f"Registered on {registered.day} {registered:%B %Y, %H:%M} UTC. ",
            tag("strong", f"{word.capitalize()}: {decision['reason'].rstrip('.')}."),
        ),
        *markdown_as_html(decision["table_markdown"]),
        *_disputed(decision),
        *_changes(decision),
    )


def _changes(decision: dict[str, Any]) -> list[Html]:
    impact = decision.get("impact")
    changed, opponent = decision["changed_predictions"], decision["opponent"]
    predictions = changed_sections(changed, opponent, rows=impact is not None)
    if impact is None:
        return predictions
    return [
        tag("h3", "Impact on the last bulk run"),
        *impact_section(impact, f"version {decision['version']}"),
        tag("h3", "Changed predictions"),
        *predictions,
    ]


def _disputed(decision: dict[str, Any]) -> list[Html]:
    """Say how many inputs of the last bulk run change, and whether people are to judge some."""
    sample, waits = decision.get("disputed"), decision.get("undecided", False)
    if sample is None:
        return [paragraph(NO_RUN)] if waits else []
    changed, queried = len(sample["titles"]), sample["queried"]
    sentence = (
        f"Of {counted(queried, 'title')} of random rows of the last bulk run the two models answer "
        f"{count(changed)} differently ({changed / max(queried, 1):.1%}). "
    )
    next_queue = "The next queue of rolecall review asks for some of these."
    return [paragraph(sentence, next_queue * (waits and changed > 0))]


def markdown_as_html(text: str) -> list[Html]:
    """Return the gate's Markdown as paragraphs and tables; the former caption the latter.

    Marks for bold and code are removed; everything else is text, and escaped.
    """
    elements: list[Html] = []
    caption = ""
    for block in re.split(r"\n\s*\n", text.strip()):
        lines = [line.strip() for line in block.splitlines()]
        if block.startswith("|"):
            elements.append(_table(caption, lines))
            caption = ""
        else:
            elements += [paragraph(caption)] if caption else []
            caption = MARKS.sub("", " ".join(lines))
    return [*elements, paragraph(caption)] if caption else elements


def _table(caption: str, lines: list[str]) -> Html:
    head, rules, *rows = map(_cells, lines)
    right = [cell.endswith(":") and not cell.startswith(":") for cell in rules]
    return table(
        caption,
        [NumberHead(cell) if r else cell for cell, r in zip(head, right, strict=True)],
        rows,
    )


def _cells(line: str) -> list[str]:
    return [MARKS.sub("", cell.strip()) for cell in line.strip("|").split("|")]


def main() -> None:
    """Write the page of the version in the current directory."""
    for path, maker in ((REPORT, "dvc repro report"), (DECISION, "make retrain")):
        if not path.is_file():
            raise FileNotFoundError(f"{path} is missing: `{maker}` writes it")
    decision: dict[str, Any] = json.loads(DECISION.read_text(encoding="utf-8"))
    page = decision_page(REPORT.read_text(encoding="utf-8"), decision)
    write_bytes(page.encode(), PAGE)
    print(PAGE)


if __name__ == "__main__":
    run(main)
