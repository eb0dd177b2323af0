"""The distribution of occupation sizes on logarithmic axes, the paper's Figure 3."""

from __future__ import annotations

import polars as pl
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from tasks.reporting.drawing import BLUE, ORANGE, draw
from tasks.reporting.markup import Html, figure, paragraph, section
from tasks.reporting.material import Material
from tasks.reporting.names import count, counted


def sizes(material: Material) -> Html:
    """Section `sizes`."""
    per_size = size_counts(material.aliases)
    if per_size.is_empty():
        return section("sizes", "Occupation sizes", paragraph("The taxonomy has no alias."))
    return section(
        "sizes",
        "Occupation sizes",
        paragraph(_sentence(per_size)),
        figure(
            _drawing(per_size),
            "How many occupations have so many titles; both axes are logarithmic (the paper's "
            "Figure 3). A straight line would be a power law; sizes of taxonomies bend downwards "
            "on the right.",
        ),
    )


def size_counts(aliases: pl.DataFrame) -> pl.DataFrame:
    """`size, occupations, at_least`: occupations of exactly that size, and of that or more."""
    return (
        aliases.group_by("occupation_id")
        .agg(size=pl.len())
        .group_by("size")
        .agg(occupations=pl.len())
        .sort("size")
        .with_columns(at_least=pl.col("occupations").cum_sum(reverse=True))
    )


def _sentence(per_size: pl.DataFrame) -> str:
    every = per_size.select(pl.col("size").repeat_by("occupations").explode())["size"]
    alone = int((every == 1).sum())
    return (
        f"{counted(len(every), 'occupation')}: the median one has "
        f"{counted(int(every.quantile(0.5, 'lower') or 0), 'title')}, the largest "
        f"{count(int(per_size['size'][-1]))}; {count(alone)} have a single title, and so no "
        "similar pair but what augmentation makes of it."
    )


def _drawing(per_size: pl.DataFrame) -> Html:
    def plot(axes: Axes) -> None:
        size = per_size["size"]
        axes.loglog(size, per_size["at_least"], "-", color=ORANGE, label="this size or more")
        axes.loglog(size, per_size["occupations"], "o", color=BLUE, label="exactly this size")
        axes.set_xlabel("titles of the occupation")
        axes.set_ylabel("occupations")
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
            axis.set_minor_locator(NullLocator())
        axes.legend()

    return draw("sizes", "occupations by size, log-log", plot, width=5.4, height=3.2)
