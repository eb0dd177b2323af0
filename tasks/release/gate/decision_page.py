"""The page of a version: the report with the gate's decision on top, `data/gate/report.html`.

In: `data/report/report.html`, which the stage `report` makes and which holds no time, and
`data/gate/decision.json`, which the gate writes once the version is registered: `name, version,
registered_at` (ISO, UTC), `promoted, reason, opponent, table_markdown` and `changed_predictions`, the gate's
titles that one of the two models answers rightly and the other wrongly; and, if there was a bulk
run, `impact`, who gets other answers (`changed_titles.py` shows both). The page is no output of a
stage: the same report stands below every version that was registered from it.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from models.reproducibility.atomic_write import write_bytes
from tasks.io.command import run
from tasks.pipeline.report.markup import Html, paragraph, section, tag
from tasks.pipeline.report.page import with_first_section
from tasks.release.gate.changed_titles import flipped, impact
from tasks.release.gate.markdown_table import markdown_as_html

REPORT = Path("data/report/report.html")
DECISION = Path("data/gate/decision.json")
PAGE = Path("data/gate/report.html")
NEEDED = (
    "name",
    "version",
    "registered_at",
    "promoted",
    "reason",
    "opponent",
    "table_markdown",
    "changed_predictions",
)


def decision_page(report: str, decision: dict[str, Any]) -> str:
    """Put the decision before the first section of the report.

    Raises:
        ValueError: `report` is not the stage's page, or `decision` lacks a field.
    """
    missing = [name for name in NEEDED if name not in decision]
    if missing:
        raise ValueError(f"{DECISION} lacks {', '.join(missing)}: ask the gate for it again")
    return with_first_section(report, "decision", "Decision", decision_section(decision))


def decision_section(decision: dict[str, Any]) -> Html:
    """Make section `decision`: version, date, what was decided and why, and what changed."""
    word = "promoted to champion" if decision["promoted"] else "not promoted"
    return section(
        "decision",
        f"{decision['name']} version {decision['version']}: {word}",
        paragraph(
            f"Registered on {_day(str(decision['registered_at']))}. ",
            tag("strong", f"{word.capitalize()}: {str(decision['reason']).rstrip('.')}."),
        ),
        *markdown_as_html(str(decision["table_markdown"])),
        *_changes(decision),
    )


def _changes(decision: dict[str, Any]) -> list[Html]:
    """Show who is affected, if a bulk run is known, and what flipped."""
    impact_facts = decision.get("impact")
    changed_predictions = flipped(
        decision["changed_predictions"], str(decision["opponent"]), rows=impact_facts is not None
    )
    if impact_facts is None:
        return changed_predictions
    shown = impact(impact_facts, f"version {decision['version']}")
    return [tag("h3", "Who is affected"), *shown, tag("h3", "What flipped"), *changed_predictions]


def _day(registered_at: str) -> str:
    """Write a moment to the minute, in UTC."""
    moment = datetime.fromisoformat(registered_at).astimezone(UTC)
    return f"{moment.day} {moment:%B %Y, %H:%M} UTC"


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
