"""Grids of trials, and what lies beyond their ends.

A grid whose best trial lies at an end of an axis says where to look, not what is best. So it gets a
further value there, as far again as the one before, and with it every other grid that has the same
axis: no system is looked for more closely than another.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, NamedTuple

from models.training.run import TrainSettings

Value = float | str
Axes = Mapping[str, Sequence[Value]]
"""Name of a setting to the values that are tried; `loss.margin` is a value of the loss."""


class Trial(NamedTuple):
    """Settings that a system may have; `name` says what they are: ``learning_rate=0.001``."""

    system: str
    name: str
    settings: TrainSettings
    values: tuple[Value, ...]
    """Of the axes of its grid, in their order."""


@dataclass(frozen=True)
class Grid:
    """What a system is tried with: every combination of the values of its axes."""

    system: str
    base: TrainSettings
    axes: Axes

    def trials(self) -> Iterator[Trial]:
        """Yield every combination."""
        for values in product(*self.axes.values()):
            settings, names = self.base, []
            for axis, value in zip(self.axes, values, strict=True):
                settings = changed(settings, axis, value)
                own = axis.rpartition(".")[2]
                names.append(f"{own}={value}" if isinstance(value, str) else f"{own}={value:g}")
            yield Trial(self.system, ",".join(names), settings, values)


def widened(grids: Sequence[Grid], best: Mapping[str, Trial]) -> list[Grid]:
    """Return grids with a further value at each end where a best trial lies.

    All grids that have the same values of an axis get it, unless settings of one refuse it. Sizes,
    which are whole numbers, and words are not widened.

    Args:
        grids: that were tried.
        best: trial of each system.
    """
    further: defaultdict[tuple[str, tuple[Value, ...]], set[Value]] = defaultdict(set)
    for grid in grids:
        for (axis, values), taken in zip(grid.axes.items(), best[grid.system].values, strict=True):
            further[axis, tuple(values)].update(beyond(values, taken))
    for (axis, values), new in further.items():
        sharing = [grid for grid in grids if tuple(grid.axes.get(axis, ())) == values]
        new -= {value for value in new if not all(_allows(grid, axis, value) for grid in sharing)}
    return [replace(grid, axes=_wider(grid.axes, further)) for grid in grids]


def beyond(values: Sequence[Value], taken: Value) -> Iterator[float]:
    """Yield what lies as far beyond the end that was taken as the value next to it lies within."""
    numbers = sorted(value for value in values if isinstance(value, float))
    if len(numbers) < max(2, len(values)):
        return
    for end, within in (numbers[:2], numbers[:-3:-1]):
        if taken == end and end > 0 and within > 0:
            yield float(f"{end * end / within:.3g}")


def changed(settings: TrainSettings, axis: str, value: Value) -> TrainSettings:
    """Return settings with another value on an axis.

    Raises:
        ValueError: they refuse it.
    """
    part, _, own = axis.rpartition(".")
    change: dict[str, Any] = {own: value}
    if part:
        change = {part: replace(getattr(settings, part), **change)}
    return replace(settings, **change)


def _allows(grid: Grid, axis: str, value: Value) -> bool:
    try:
        changed(grid.base, axis, value)
    except ValueError:
        return False
    return True


def _wider(axes: Axes, further: Mapping[tuple[str, tuple[Value, ...]], set[Value]]) -> Axes:
    wider: dict[str, Sequence[Value]] = {}
    for axis, values in axes.items():
        new = further[axis, tuple(values)]
        wider[axis] = sorted({*values, *new}, key=float) if new else values
    return wider
