"""Figure 3 of Neculoiu et al. 2016: how many occupations have how many titles."""

from __future__ import annotations

from matplotlib.figure import Figure

from benchmarks.pages.plots import COLOURS, MARKS, svg
from benchmarks.pages.tables import datasets, where
from benchmarks.results import Lines, Results
from benchmarks.studies.sources.measure import SIZE, SIZED


def sizes(results: Results) -> str:
    """Draw occupations of a size (marks), and of it or more (lines), before and after synonyms."""
    rows = [row for row in results["sources"] if row["test"].startswith(SIZE)]

    def draw(whole: Figure) -> None:
        grid = whole.subplots(1, max(1, len(datasets(rows))), sharey=True, squeeze=False)[0]
        for axes, dataset in zip(grid, datasets(rows), strict=False):
            for number, system in enumerate(SIZED):
                size, occupations = _counts(where(rows, dataset=dataset, system=system))
                more = [sum(occupations[place:]) for place in range(len(occupations))]
                colour = COLOURS[number]
                axes.loglog(size, more, "-", color=colour, label=system)
                axes.loglog(size, occupations, MARKS[number], color=colour)
            axes.set_title(dataset)
            axes.set_xlabel("titles of the occupation")
        grid[0].set_ylabel("occupations")
        grid[0].legend()

    return svg("sources-sizes", draw)


def _counts(rows: Lines) -> tuple[list[int], list[int]]:
    pairs = sorted((int(row["test"].removeprefix(SIZE)), int(row["value"])) for row in rows)
    return [size for size, _ in pairs], [count for _, count in pairs]
