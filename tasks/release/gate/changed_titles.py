"""Tables of titles whose answer a decision changes, grouped by occupation, as HTML.

In, from `data/gate/decision.json`: `changed_predictions`, the gate's titles that one of two models
answers rightly and the other wrongly, under the right occupation; and `impact`, titles of the last
bulk run (`tasks/release/gate/impact.py`), under the occupation that was answered before.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

from tasks.pipeline.report.markup import (
    Html,
    NumberHead,
    paragraph,
    table_of_bodies,
    table_row,
    tag,
)
from tasks.pipeline.report.names import count, counted, test_name

Title = Mapping[str, Any]
CHANGES = {"wrong to right": "Right now, wrong before", "right to wrong": "Wrong now, right before"}
ANSWERS, NOTHING = ("Answered before", "Answered now"), "no answer"
MOST_TITLES = 30  # of a table
MOST_OF_ONE = 3  # of one occupation


def changed_sections(
    changed_predictions: Sequence[Title], opponent: str, *, rows: bool
) -> list[Html]:
    """Say how many of the gate's titles became right or wrong, and list them.

    `rows`: whether it is known how often titles came in; a column then says so.
    """
    if not changed_predictions:
        return [paragraph("No title of the gate went from wrong to right or from right to wrong.")]

    def cells(title: Title) -> list[object]:
        answers = [title[side] or NOTHING for side in ("before", "after")]
        frequency = [count(title["rows"]) if title.get("rows") else ""] if rows else []
        return [title["raw_title"], test_name(title["test"]), *answers, *frequency]

    by_change = {
        change: [one for one in changed_predictions if one["change"] == change]
        for change in CHANGES
    }
    gained, lost = (len(titles) for titles in by_change.values())
    intro = paragraph(
        f"Against {opponent}, of the gate's titles {count(gained)} became right and "
        f"{count(lost)} wrong. They stand under their right occupation."
    )
    head = ["Title", "Test", *ANSWERS, *([NumberHead("Rows")] if rows else [])]
    tables = [
        _table(CHANGES[change], len(titles), head, _grouped(titles, "occupation_label", len), cells)
        for change, titles in by_change.items()
        if titles
    ]
    return [intro, *tables]


def impact_section(values: Mapping[str, Any], version: str) -> list[Html]:
    """Say how many rows of the last bulk run get another answer, and list their titles.

    `values`: `impact` of the decision.
    """

    def cells(title: Title) -> list[object]:
        return [title["raw_title"], title["after"] or NOTHING, count(title["rows"])]

    intro = _run_sentence(values)
    if not values["changed_titles"]:
        return [paragraph(intro, f"With {version}, they are answered as before.")]
    rows = values["changed_rows"]
    changed = f"{counted(rows, 'row')} ({rows / max(values['queried_rows'], 1):.1%} of these)"
    strong = tag("strong", f"{changed} would get another answer")
    groups = _grouped(values["changed"], "before", _rows)
    head = ["Title", ANSWERS[1], NumberHead("Rows")]
    caption = "Another answer, under the one before"
    titles = _table(caption, values["changed_titles"], head, groups, cells)
    return [paragraph(intro, f"With {version}, ", strong, "."), titles]


def _run_sentence(values: Mapping[str, Any]) -> str:
    partly = ""
    if values["read_rows"] < values["run_rows"]:
        partly = f", of which {count(values['read_rows'])} were read"
    share = f"{values['queried_rows'] / max(values['read_rows'], 1):.0%}"
    return (
        f"The last bulk run, answered by {values['model']}, had "
        f"{counted(values['run_rows'], 'row')}{partly}; "
        f"{counted(values['queried_titles'], 'title')}, the most frequent ones, stand in {share} "
        "of them. "
    )


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
    head: Sequence[str],
    groups: Mapping[str, list[Title]],
    cells: Callable[[Title], list[object]],
) -> Html:
    """List `MOST_OF_ONE` titles of each group, `MOST_TITLES` in all; say so if there are more."""
    rows = [(name, cells(title)) for name in groups for title in groups[name][:MOST_OF_ONE]]
    del rows[MOST_TITLES:]
    rest = f", of which {count(len(rows))} are shown" if len(rows) < titles else ""
    bodies = [
        _group(name, groups[name], [row for _, row in of_group], head)
        for name, of_group in groupby(rows, itemgetter(0))
    ]
    return table_of_bodies(f"{caption}: {counted(titles, 'title')}{rest}", head, bodies)


def _group(
    name: str, titles: Sequence[Title], rows: list[list[object]], columns: Sequence[str]
) -> Html:
    of = f", {counted(len(titles), 'title')}" if len(rows) < len(titles) else ""
    head = tag("th", tag("strong", name), of, colspan=len(columns), scope="rowgroup")
    body = [table_row(columns, row) for row in rows]
    return tag("tbody", tag("tr", head, class_="group"), *body)
