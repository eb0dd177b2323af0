"""Tables of titles whose answer a decision changes, grouped by occupation, as HTML.

In, from `data/gate/decision.json`: `changed_predictions`, the gate's titles that one of two models
answers rightly and the other wrongly, under the right occupation; and `impact`, titles of the last
bulk run (`tasks/release/gate/impact.py`), under the occupation that was answered before.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tasks.pipeline.report.markup import (
    Html,
    number,
    number_head,
    paragraph,
    table_of_bodies,
    table_row,
    tag,
)
from tasks.pipeline.report.names import count, counted, test_name

Title = Mapping[str, Any]
CHANGES = {"wrong to right": "Right now, wrong before", "right to wrong": "Wrong now, right before"}
ANSWERS, NOTHING = ("Answered before", "Answered now"), "no answer"
SHOWN = 30  # titles of a table
OF_ONE = 3  # of one occupation


def changed_sections(
    changed_predictions: Sequence[Title], opponent: str, *, rows: bool
) -> list[Html]:
    """Say how many of the gate's titles became right or wrong, and show them.

    `rows`: whether it is known how often titles came in, and is to be shown.
    """
    if not changed_predictions:
        return [paragraph("No title of the gate went from wrong to right or from right to wrong.")]
    by_change = {
        change: [one for one in changed_predictions if one["change"] == change]
        for change in CHANGES
    }
    gained, lost = (len(titles) for titles in by_change.values())
    intro = paragraph(
        f"Against {opponent}, of the gate's titles {count(gained)} became right and "
        f"{count(lost)} wrong. They stand under their right occupation."
    )
    head = ["Title", "Test", *ANSWERS, *([number_head("Rows")] if rows else [])]
    row = _row_with_rows if rows else _changed_prediction_row
    tables = [
        _table(CHANGES[change], len(titles), head, _grouped(titles, "occupation_label", len), row)
        for change, titles in by_change.items()
        if titles
    ]
    return [intro, *tables]


def impact_section(values: Mapping[str, Any], version: str) -> list[Html]:
    """Say how many rows of the last bulk run get another answer, and show their titles.

    `values`: `impact` of the decision.
    """
    intro = _run_sentence(values)
    if not values["changed_titles"]:
        return [paragraph(intro, f"With {version}, they are answered as before.")]
    rows = values["changed_rows"]
    changed = f"{counted(rows, 'row')} ({rows / max(values['queried_rows'], 1):.1%} of these)"
    strong = tag("strong", f"{changed} would get another answer")
    groups = _grouped(values["changed"], "before", _rows)
    head = ["Title", ANSWERS[1], number_head("Rows")]
    caption = "Another answer, under the one before"
    shown = _table(caption, values["changed_titles"], head, groups, _impact_row)
    return [paragraph(intro, f"With {version}, ", strong, "."), shown]


def _run_sentence(values: Mapping[str, Any]) -> str:
    of = f", of which {count(values['read_rows'])} were read"
    partly = of if values["read_rows"] < values["run_rows"] else ""
    share = f"{values['queried_rows'] / max(values['read_rows'], 1):.0%}"
    return (
        f"The last bulk run, answered by {values['model']}, had "
        f"{counted(values['run_rows'], 'row')}{partly}; "
        f"{counted(values['queried_titles'], 'title')}, the most frequent ones, stand in {share} "
        "of them. "
    )


def _changed_prediction_row(title: Title) -> list[object]:
    return [title["raw_title"], test_name(title["test"]), *_answers(title)]


def _row_with_rows(title: Title) -> list[object]:
    return [
        *_changed_prediction_row(title),
        number(count(title["rows"]) if title.get("rows") else ""),
    ]


def _impact_row(title: Title) -> list[object]:
    return [title["raw_title"], title["after"] or NOTHING, number(count(title["rows"]))]


def _answers(title: Title) -> list[str]:
    return [title[side] or NOTHING for side in ("before", "after")]


def _rows(titles: Sequence[Title]) -> int:
    return sum(title.get("rows", 0) for title in titles)


def _grouped(
    titles: Sequence[Title], by: str, size: Callable[[Sequence[Title]], int]
) -> dict[str, list[Title]]:
    """Group titles, the largest group first, and in it the most frequent title."""
    groups: dict[str, list[Title]] = {}
    for title in sorted(titles, key=lambda title: -_rows([title])):
        groups.setdefault(title[by] or NOTHING, []).append(title)
    return dict(sorted(groups.items(), key=lambda item: (-size(item[1]), item[0])))


def _table(
    caption: str,
    titles: int,
    head: Sequence[object],
    groups: Mapping[str, list[Title]],
    row: Callable[[Title], list[object]],
) -> Html:
    """Show `OF_ONE` titles of each group, `SHOWN` in all, and say so where there are more."""
    shown = [(name, title) for name in groups for title in groups[name][:OF_ONE]][:SHOWN]
    rest = f", of which {count(len(shown))} are shown" if len(shown) < titles else ""
    bodies = [
        _group(name, groups[name], [row(title) for of, title in shown if of == name], len(head))
        for name in dict.fromkeys(name for name, _ in shown)
    ]
    return table_of_bodies(f"{caption}: {counted(titles, 'title')}{rest}", head, bodies)


def _group(name: str, titles: Sequence[Title], rows: list[list[object]], width: int) -> Html:
    of = f", {counted(len(titles), 'title')}" if len(rows) < len(titles) else ""
    head = tag("th", tag("strong", name), of, colspan=width, scope="rowgroup")
    return tag("tbody", tag("tr", head, class_="group"), *map(table_row, rows))
