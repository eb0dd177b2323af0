"""Names of systems, tests and slices on the pages, and figures as text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from tasks.io.mixes import sources_of

Table = tuple[Sequence[str], Sequence[Sequence[str]]]  # head and rows, as text
BASELINES = ("ngram", "tfidf", "untrained")
TESTS = {  # name and meaning
    "typos": ("Typos", "training titles with about 5 % of their characters changed"),
    "composition": (
        "Composition",
        "titles put together from synonyms of an occupation's words, none of them in training",
    ),
    "extra_words": (
        "Extra Words",
        "raw inputs that hold a title of the taxonomy among other words",
    ),
    "annotations": ("Annotations", "labelled raw inputs that nothing was trained on"),
    "heldout_alias": ("Held-out alias", "one alias an occupation, kept out of training and index"),
}
SLICES = {  # by source, of tests that have several
    "source:pair_seen": "synonym seen elsewhere",
    "source:pair_unseen": "synonym never seen",
    "source:two_exchanges": "two synonyms",
    "source:label_agrees": "label agrees",
    "source:label_differs": "label differs",
}
SYSTEMS = {"ngram": "n-gram matcher", "tfidf": "TF-IDF", "untrained": "network, untrained"}


def system_name(system: str) -> str:
    """Name a system; a trained network by its mix."""
    return SYSTEMS.get(system, f"network, mix {system}")


def mix_words(mix: str) -> str:
    """Name the sources of a mix."""
    return listed(["the base taxonomy", *sources_of(mix)])


def baseline_name(system: str) -> str:
    """Name a system inside a sentence, with its article."""
    names = {"ngram": "the n-gram matcher", "untrained": "the same network untrained"}
    return names.get(system, system_name(system))


def test_name(test: str) -> str:
    """Return a test as a heading."""
    return TESTS[test][0] if test in TESTS else test


def slice_name(name: str) -> str:
    """Name a slice of a test."""
    return SLICES.get(name, name.removeprefix("source:"))


def in_order(names: Iterable[str], order: Iterable[str]) -> list[str]:
    """Return distinct names: those of `order` first, then the rest sorted."""
    rank = {name: position for position, name in enumerate(order)}
    return sorted(set(names), key=lambda name: (rank.get(name, len(rank)), name))


def share(value: float) -> str:
    """Return a figure between 0 and 1 (or a difference of two), with three decimals."""
    return f"{value:.3f}".replace("-", "−")


def signed(value: float) -> str:
    """Return a difference with its sign; a zero has none."""
    written = f"{value:+.3f}".replace("-", "−")
    return "0.000" if written[1:] == "0.000" else written


def percent(value: float) -> str:
    """Return a share of a whole, to be read and not compared."""
    return f"{100 * value:.0f} %"


def count(value: int) -> str:
    """Return a count with thousands set apart."""
    return f"{value:,}"


def counted(value: int, one: str, many: str | None = None) -> str:
    """`1 title`, `2 titles`."""
    return f"{count(value)} {one if value == 1 else many or one + 's'}"


def listed(words: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def with_interval(
    value: float | None, row: Mapping[str, float | None], written: Callable[[float], str] = share
) -> str:
    """Return `0.532 ±0.010 [0.500, 0.560]`: a value, its `deviation`, `low` and `high`, if any."""
    if value is None:
        return ""
    deviation, low, high = row.get("deviation"), row["low"], row["high"]
    spread = "" if deviation is None else f" ±{share(deviation)}"
    interval = "" if low is None or high is None else f" [{written(low)}, {written(high)}]"
    return f"{written(value)}{spread}{interval}"


def crossed(cells: Mapping[Any, str], columns: Iterable[object]) -> list[list[str]]:
    """Lay cells, of keys (first words of a row, column), out as rows; a missing cell is empty."""
    keys, names = list(columns), dict.fromkeys(name for name, _ in cells)
    return [[*name, *(cells.get((name, key), "") for key in keys)] for name in names]


def markdown_page(title: str, first: Table, note: str, others: Mapping[str, Table]) -> str:
    """Write tables, the first with a note, the others by heading if they have a row."""
    parts = [title, aligned(*first), note]
    for heading, table in others.items():
        parts += [heading, aligned(*table)] if table[1] else []
    return "\n\n".join(parts) + "\n"


def aligned(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Write a Markdown table that a terminal shows as well; empty without rows."""
    body = list(rows)
    if not body:
        return ""
    widths = [max(3, *map(len, column)) for column in zip(head, *body, strict=True)]
    lines = [head, ["-" * width for width in widths], *body]
    return "\n".join(
        "| " + " | ".join(cell.ljust(w) for cell, w in zip(line, widths, strict=True)) + " |"
        for line in lines
    )
