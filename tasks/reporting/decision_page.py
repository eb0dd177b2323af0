"""The page of a version: the report with the gate's decision on top, `data/gate/report.html`.

In: `data/report/report.html`, which the stage `report` makes and which holds no time, and
`data/gate/decision.json`, which the gate writes once the version is registered: `name, version,
registered_at` (ISO, UTC), `promoted, reason, opponent, table_markdown` and `flips`, the gate's
titles that one of the two models answers rightly and the other wrongly (`test, raw_title,
occupation_label, before, after, change`). The page is no output of a stage: the same report stands
below every version that was registered from it.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from models.repeatable.whole_file import write_bytes
from tasks.files.command import run
from tasks.reporting.markdown_table import markdown_as_html
from tasks.reporting.markup import Html, paragraph, section, table_of_bodies, table_row, tag
from tasks.reporting.names import count, counted, test_name
from tasks.reporting.page import with_first_section

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
    "flips",
)
CHANGES = {
    "wrong to right": "Right now, wrong before",
    "right to wrong": "Wrong now, right before",
}
HEAD = ("Title", "Test", "Answered before", "Answered now")
SHOWN = 30  # titles of either change
OF_ONE = 3  # of one occupation


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
        *_changes(decision["flips"], str(decision["opponent"])),
    )


def _day(registered_at: str) -> str:
    """Write a moment to the minute, in UTC."""
    moment = datetime.fromisoformat(registered_at).astimezone(UTC)
    return f"{moment.day} {moment:%B %Y, %H:%M} UTC"


def _changes(flips: list[dict[str, str | None]], opponent: str) -> list[Html]:
    if not flips:
        return [paragraph("No title of the gate went from wrong to right or from right to wrong.")]
    by_change = {change: [f for f in flips if f["change"] == change] for change in CHANGES}
    gained, lost = (len(rows) for rows in by_change.values())
    said = paragraph(
        f"Against {opponent}, of the gate's titles {count(gained)} became right and "
        f"{count(lost)} wrong. They stand under their right occupation."
    )
    return [said, *(_flipped(CHANGES[change], rows) for change, rows in by_change.items() if rows)]


def _flipped(caption: str, flips: list[dict[str, str | None]]) -> Html:
    """Group titles by occupation, the one with the most first; `OF_ONE` of each, `SHOWN` in all."""
    by_occupation: dict[str, list[dict[str, str | None]]] = {}
    for flip in flips:
        by_occupation.setdefault(str(flip["occupation_label"]), []).append(flip)
    ranked = sorted(by_occupation.items(), key=lambda item: (-len(item[1]), item[0]))
    shown = [(name, flip) for name, group in ranked for flip in group[:OF_ONE]][:SHOWN]
    bodies = [
        _group(name, len(by_occupation[name]), [flip for of, flip in shown if of == name])
        for name in dict.fromkeys(name for name, _ in shown)
    ]
    rest = f", of which {count(len(shown))} are shown" if len(shown) < len(flips) else ""
    return table_of_bodies(f"{caption}: {counted(len(flips), 'title')}{rest}", HEAD, bodies)


def _group(occupation: str, titles: int, shown: list[dict[str, str | None]]) -> Html:
    of = f", {counted(titles, 'title')}" if len(shown) < titles else ""
    name = tag("th", tag("strong", occupation), of, colspan=len(HEAD), scope="rowgroup")
    rows = [
        table_row(
            [
                flip["raw_title"],
                test_name(str(flip["test"])),
                *(flip[side] or "no answer" for side in ("before", "after")),
            ]
        )
        for flip in shown
    ]
    return tag("tbody", tag("tr", name, class_="group"), *rows)


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
