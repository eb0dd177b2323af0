"""The distribution of occupation sizes on logarithmic axes, the paper's Figure 3.

Of the taxonomy as it is, and with the titles that the stage `synonyms` makes from it (Neculoiu et
al. 2016, section 4.2, point 2).
"""

from __future__ import annotations

import polars as pl
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from tasks.reporting.drawing import BLUE, GREEN, draw
from tasks.reporting.markup import Html, figure, paragraph, section
from tasks.reporting.material import Material
from tasks.reporting.names import count, counted


def sizes(material: Material) -> Html:
    """Make section `sizes`."""
    before = size_counts(material.aliases)
    if before.is_empty():
        return section("sizes", "Occupation sizes", paragraph("The taxonomy has no alias."))
    after = size_counts(with_variants(material.aliases, material.synonym_variants))
    return section(
        "sizes",
        "Occupation sizes",
        paragraph(_sentence(before, after)),
        figure(
            _drawing(before, after),
            "How many occupations have so many titles (marks), or so many and more (lines), before "
            "and after synonyms are put into training titles; both axes are logarithmic (the "
            "paper's Figure 3). A straight line would be a power law; sizes of taxonomies bend "
            "downwards on the right. Generated titles that the Composition queries hold out are "
            "not counted.",
        ),
    )


def size_counts(aliases: pl.DataFrame) -> pl.DataFrame:
    """Count `size, occupations, at_least`: occupations of exactly that size, and of it or more."""
    return (
        aliases.group_by("occupation_id")
        .agg(size=pl.len())
        .group_by("size")
        .agg(occupations=pl.len())
        .sort("size")
        .with_columns(at_least=pl.col("occupations").cum_sum(reverse=True))
    )


def with_variants(aliases: pl.DataFrame, variants: pl.DataFrame) -> pl.DataFrame:
    """List `occupation_id, title`: every alias, each variant once in each occupation of its title.

    Args:
        aliases: schema `SPLIT_ALIASES`.
        variants: at least schema `VARIANTS`; `title` is the cleaned title of a training alias.
    """
    training = aliases.filter(pl.col("split") == "train")
    made = (
        training.select("occupation_id", title="cleaned")
        .join(variants, on="title")
        .select("occupation_id", title="variant")
        .unique()
    )
    return pl.concat([aliases.select("occupation_id", "title"), made])


def _sentence(before: pl.DataFrame, after: pl.DataFrame) -> str:
    return (
        f"{counted(int(before['at_least'][0]), 'occupation')}: the median one has "
        f"{counted(_median(before), 'title')}, the largest {count(int(before['size'][-1]))}; "
        f"{count(_alone(before))} have a single title, and so no similar pair but what "
        f"augmentation makes of it. With synonyms put in, the median is {count(_median(after))}, "
        f"the largest {count(int(after['size'][-1]))}, and {count(_alone(after))} are left with a "
        "single one."
    )


def _median(per_size: pl.DataFrame) -> int:
    """Return the lower median."""
    every = per_size.select(pl.col("size").repeat_by("occupations").explode())["size"]
    return int(every.quantile(0.5, "lower") or 0)


def _alone(per_size: pl.DataFrame) -> int:
    return int(per_size.filter(pl.col("size") == 1)["occupations"].sum())


def _drawing(before: pl.DataFrame, after: pl.DataFrame) -> Html:
    def plot(axes: Axes) -> None:
        for frame, mark, line, colour, name in (
            (before, "o", "-", BLUE, "taxonomy"),
            (after, "^", "--", GREEN, "with synonyms"),
        ):
            size = frame["size"]
            axes.loglog(size, frame["at_least"], line, color=colour)
            axes.loglog(size, frame["occupations"], mark, color=colour, markersize=4)
            # one entry for both, off the drawing
            axes.plot([], [], mark + line, color=colour, markersize=4, label=name)
        axes.set_xlabel("titles of the occupation")
        axes.set_ylabel("occupations")
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
            axis.set_minor_locator(NullLocator())
        axes.legend()

    return draw("sizes", "occupations by size before and after synonyms, log-log", plot, 5.4, 3.2)
