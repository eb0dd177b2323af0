"""Tables 8 to 10 of Wieting et al. 2016, a line for each string that a row is about."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.pages.tables import datasets, distinct, markdown, where
from benchmarks.results import Line, Lines, Results
from benchmarks.studies.neighbours.measure import APART, MISSPELT, NGRAMS, PAIRS, RIGHT, UNKNOWN

HEADS = {
    NGRAMS: ("n-grams (Table 10)", "n-gram", "nearest n-grams"),
    MISSPELT: ("misspelt titles (Table 9)", "title", "nearest aliases"),
    UNKNOWN: ("titles with words that are in no alias (Table 9)", "title", "nearest aliases"),
    PAIRS: ("titles that one word, or their order, tells apart (Table 8)", "title", "aliases"),
}


def tables(results: Results) -> Iterator[str]:
    """Yield each table of each data set; aliases of a right occupation are bold."""
    rows = results["neighbours"]
    for dataset in datasets(rows):
        for kind, (title, *head) in HEADS.items():
            own = [
                row for row in where(rows, dataset=dataset) if row["test"].startswith(f"{kind}/")
            ]
            yield f"### {dataset}: {title}"
            beside = ["not the same as"] * (kind == PAIRS)
            lines = (_line(about, where(own, test=about)) for about in distinct(own, "test"))
            yield markdown([head[0], *beside, head[1]], lines)


def _line(about: str, rows: Lines) -> list[str]:
    apart = [_written(row) for row in rows if row["metric"].startswith(APART)]
    near = [row for row in rows if not row["metric"].startswith(APART)]
    near.sort(key=lambda row: -float(row["value"]))
    return [about.partition("/")[2], *apart, ", ".join(map(_written, near))]


def _written(row: Line) -> str:
    how, _, name = row["metric"].partition(": ")
    shown = f"**{name}**" if f"{how}: " == RIGHT else name
    return f"{shown} {float(row['value']):.3f}"
