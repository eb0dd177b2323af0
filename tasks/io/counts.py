"""What a stage counted, as lines for its log."""

from __future__ import annotations

from collections.abc import Iterator, Mapping


def say(counts: Mapping[str, object]) -> None:
    """Print counts; those that stand within one another have a line of their own."""
    print(*lines(counts), sep="\n")


def lines(counts: Mapping[str, object], within: str = "") -> Iterator[str]:
    """Yield `NAME: COUNT VALUE, ...` for each mapping that holds values."""
    values = {name: value for name, value in counts.items() if not isinstance(value, Mapping)}
    words = ", ".join(f"{_spaced(name)} {_figure(value)}" for name, value in values.items())
    if words:
        yield f"{within}: {words}" if within else words
    for name, value in counts.items():
        if isinstance(value, Mapping):
            yield from lines(value, f"{within}, {_spaced(name)}" if within else _spaced(name))


def _spaced(name: str) -> str:
    return name.replace("_", " ")


def _figure(value: object) -> str:
    return f"{value:,}" if isinstance(value, int | float) else str(value)
