"""Rows of results as Markdown: chosen, written, pivoted; text in, text out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from benchmarks.pages.unlearned import MARK, UNLEARNED
from benchmarks.results import Line, Lines

SHARES = (
    *("accuracy", "calibration", "coverage", "digits_", "errors_removed", "gain_", "gold_if"),
    *("holm_low", "loss", "mean_a", "mean_s", "mrr", "nearest_if", "pearson", "promoted"),
    *("share_with", "side_effects", "spearman", "success_at", "valid_"),
)
"""How the metrics begin that are shown with three decimals; others as they are in the file."""
Printed = Mapping[str, Mapping[str, float]]
"""Figures of a paper: column to line to value."""


def markdown(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """Write a Markdown table; a `|` inside a cell is escaped."""
    cells = [list(head), ["---"] * len(head), *map(list, lines)]
    return "\n".join(
        "| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in cells
    )


def pivot(
    rows: Lines,
    index: Sequence[str],
    column: str,
    after: Sequence[str] = (),
    *,
    beside: Printed | None = None,
    heads: Sequence[str] | None = None,
    ends: bool = True,
) -> str:
    """Write one line per `index`, one column per value of `column`, then the columns `after`.

    Lines stand in the order of `rows`, and columns too, unless `heads` gives theirs. Several
    values of a column in `after` on one line are joined with a comma. A paper's figures stand
    beside the columns that it has.
    """
    lines: dict[tuple[str, ...], list[Line]] = {}
    for row in rows:
        lines.setdefault(tuple(row[name] for name in index), []).append(row)
    printed, columns = beside or {}, heads or distinct(rows, column)
    head = [*index]
    for name in columns:
        head += [name, *["paper"] * (name in printed)]
    body = []
    for key, group in lines.items():
        cells, line = {row[column]: figure(row, ends=ends) for row in group}, [*key]
        for name in columns:
            line.append(cells.get(name, ""))
            if name in printed:
                value = printed[name].get(key[0])
                line.append("" if value is None else max(f"{value:g}", f"{value:.2f}", key=len))
        line += [", ".join(dict.fromkeys(row[name] for row in group)) for name in after]
        body.append(line)
    return markdown([*head, *after], body)


def figure(row: Line, *, ends: bool = True) -> str:
    """Write `0.532 [0.511, 0.553]`, or the value alone.

    In the place of a network's figure stands that it did not learn, beside a mean which of its
    seeds did not (`unlearned.marked`); what training cost stands as it is.
    """
    value, low, high = (_short(row[name], row["metric"]) for name in ("value", "low", "high"))
    text = f"{value} [{low}, {high}]" if low and ends else value
    mark = row.get(MARK) if row["metric"].startswith(SHARES) else ""
    return UNLEARNED if mark == UNLEARNED else f"{text} ({mark})" if mark else text


def is_figure(row: Line) -> bool:
    """Say whether a row is of something that learned, or need not (`unlearned.marked`)."""
    return row.get(MARK) != UNLEARNED


def of(rows: Lines, *metrics: str) -> list[Line]:
    """Return the rows of these metrics."""
    return [row for row in rows if row["metric"] in metrics]


def where(rows: Lines, **values: str) -> list[Line]:
    """Return the rows with these values."""
    return [row for row in rows if all(row[name] == value for name, value in values.items())]


def distinct(rows: Lines, column: str) -> list[str]:
    """Return the values of a column in the order of their first row."""
    return list(dict.fromkeys(row[column] for row in rows))


def datasets(rows: Lines) -> list[str]:
    """Return the data sets of rows, the sample first."""
    return sorted(distinct(rows, "dataset"), key=lambda name: (name != "sample", name))


def _short(number: str, metric: str) -> str:
    if number and metric.startswith(SHARES):
        return f"{float(number):.3f}"
    whole, point, decimals = number.removeprefix("-").partition(".")
    sign = "-" if number.startswith("-") else ""
    return f"{sign}{int(whole):,}{point}{decimals}" if whole else number
