"""The page of a version: the report with the gate's decision on top, `data/gate/report.html`.

In: `data/report/report.html` of the stage `report`, and `data/gate/decision.json`
(`tasks/release/registry/promote.py` lists its keys). Titles whose answer changes are listed by
occupation: those of the gate under the right one, those of the last bulk run under the earlier one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from markupsafe import Markup

from models.reproducibility import write_bytes
from tasks.io.files import read_json
from tasks.pipeline.report.names import count, counted, test_name
from tasks.pipeline.report.page import render, with_first_section
from tasks.release.gate.figures import figures_table, trained_on_note

REPORT = Path("data/report/report.html")
DECISION = Path("data/gate/decision.json")
PAGE = Path("data/gate/report.html")
CHANGES = {"wrong to right": "Right now, wrong before", "right to wrong": "Wrong now, right before"}
NOTHING = "no answer"
MOST_TITLES = 30  # of a table
MOST_OF_ONE = 3  # of one occupation
Title = Mapping[str, Any]


def write_page(root: Path) -> None:
    """Write the page of the version decided below `root`; FileNotFoundError if it is not."""
    for path, maker in ((REPORT, "dvc repro report"), (DECISION, "make retrain")):
        if not (root / path).is_file():
            raise FileNotFoundError(f"{root / path} is missing: `{maker}` writes it")
    decision = read_json(root / DECISION)
    page = decision_page((root / REPORT).read_text(encoding="utf-8"), decision)
    write_bytes(page.encode(), root / PAGE)


def decision_page(report: str, decision: dict[str, Any]) -> str:
    """Put the decision before the first section of the stage's `report`, or raise a ValueError."""
    return with_first_section(report, "decision", "Decision", decision_section(decision))


def decision_section(decision: dict[str, Any]) -> Markup:
    """Make section `decision`: version, date, what was decided and why, and what changed."""
    word = "promoted to champion" if decision["promoted"] else "not promoted"
    if decision["undecided"] and not decision["promoted"]:
        word = "not yet promoted, waits for people's verdicts"
    registered = datetime.fromisoformat(decision["registered_at"]).astimezone(UTC)
    compared, impact = decision["margin"] is not None, decision["impact"]
    notes, head, rows = figures_table(decision) if compared else ("", [], [])
    by_change = {
        change: [title for title in decision["changed_predictions"] if title["change"] == change]
        for change in CHANGES
    }
    gained, lost = map(len, by_change.values())

    def changed(title: Title) -> list[str]:
        frequency = [count(title["rows"]) if title.get("rows") else ""] if impact else []
        return [title["raw_title"], test_name(title["test"]), *_answers(title), *frequency]

    def rows_of(title: Title) -> list[str]:
        return [title["raw_title"], _answers(title)[1], count(title["rows"])]

    values = {
        **decision,
        "word": word,
        "registered": f"{registered.day} {registered:%B %Y, %H:%M}",
        "reason": decision["reason"].rstrip("."),
        "notes": notes,
        "head": head,
        "figures": rows,
        "trained_on": trained_on_note(decision),
        "gained": gained,
        "lost": lost,
        "changes": [
            (CHANGES[change], len(titles), _groups(titles, "occupation_label", len, changed))
            for change, titles in by_change.items()
            if titles
        ],
        "impact_groups": impact and _groups(impact["changed"], "before", _rows, rows_of),
    }
    return Markup(render("release/gate/decision.html.j2", **values))


def _answers(title: Title) -> list[str]:
    return [title[side] or NOTHING for side in ("before", "after")]


def _rows(titles: Sequence[Title]) -> int:
    return sum(title.get("rows", 0) for title in titles)


def _groups(
    titles: Sequence[Title],
    by: str,
    size: Callable[[Sequence[Title]], int],
    cells: Callable[[Title], list[str]],
) -> list[tuple[str, str, list[list[str]]]]:
    """Group titles, the largest group first, and in it the most frequent title.

    Each group has at most `MOST_OF_ONE` rows, all together at most `MOST_TITLES`. Its remark counts
    its titles if some are left out.
    """
    by_name: dict[str, list[Title]] = {}
    for title in sorted(titles, key=lambda title: -_rows([title])):
        by_name.setdefault(title[by] or NOTHING, []).append(title)
    groups, left = [], MOST_TITLES
    for name, own in sorted(by_name.items(), key=lambda item: (-size(item[1]), item[0])):
        listed = [cells(title) for title in own[: min(MOST_OF_ONE, left)]]
        left -= len(listed)
        remark = f", {counted(len(own), 'title')}" if len(listed) < len(own) else ""
        groups += [(name, remark, listed)] if listed else []
    return groups
