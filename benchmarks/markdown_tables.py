"""Tidy rows as Markdown tables: text in, text out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

METRICS = (
    "success_at_1",
    "success_at_5",
    "success_at_10",
    "mrr",
    "titles_per_second",
    "pairs_per_second",
    "mib_per_second",
    "peak_mib",
    "gigaflop_per_second",
    "steps",
    "seconds",
)
"""The order of columns; what is not named here comes after, by name."""

Rows = Sequence[dict[str, str]]


def markdown(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """A Markdown table; a `|` inside a cell is escaped."""
    cells = [list(head), ["---"] * len(head), *map(list, lines)]
    return "\n".join(
        "| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in cells
    )


def pivot(rows: Rows, index: Sequence[str], column: str, after: Sequence[str] = ()) -> str:
    """One line per `index`, one column per value of `column`, then the columns `after`.

    Lines stand in the order of `rows`, columns in the order of `METRICS` or of the rows. Several
    values of a column in `after` on one line are joined with a comma.
    """
    lines: dict[tuple[str, ...], list[dict[str, str]]] = {}
    for row in rows:
        lines.setdefault(tuple(row[name] for name in index), []).append(row)
    columns = list(dict.fromkeys(row[column] for row in rows))
    if column == "metric":
        columns.sort(key=lambda name: (METRICS.index(name) if name in METRICS else 99, name))
    body = []
    for key, group in lines.items():
        found = {row[column]: figure(row) for row in group}
        rest = [", ".join(dict.fromkeys(row[name] for row in group)) for name in after]
        body.append([*key, *(found.get(name, "") for name in columns), *rest])
    return markdown([*index, *columns, *after], body)


def figure(row: dict[str, str]) -> str:
    """`0.532 [0.511, 0.553]`: shares with three decimals, other figures as they are in the file."""
    value, low, high = (_short(row[name], row["metric"]) for name in ("value", "low", "high"))
    return f"{value} [{low}, {high}]" if low else value


def _short(number: str, metric: str) -> str:
    if number and (metric.startswith("success_at_") or metric == "mrr"):
        return f"{float(number):.3f}"
    whole, point, decimals = number.removeprefix("-").partition(".")
    sign = "-" if number.startswith("-") else ""
    return f"{sign}{int(whole):,}{point}{decimals}" if whole else number
