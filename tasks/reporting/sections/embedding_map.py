"""A map of the index: alias embeddings on their first two principal components.

Coloured by the broadest level of the hierarchy. Drawn as SVG by hand, not with Matplotlib: every
point carries its title for the pointer, and titles need a browser's fonts. The sign of a component
is free: the one is chosen in which its largest entry is positive, and coordinates are rounded, so
that equal embeddings give equal bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl

from models.repeatable.seeding import generator
from tasks.reporting.markup import Html, figure, join, paragraph, section, tag
from tasks.reporting.material import Material
from tasks.reporting.names import count, listed, percent

if TYPE_CHECKING:
    from jaxtyping import Float, Float64

POINTS = 1500
GROUPS = 8  # more colours cannot be told apart; smaller groups share grey
LABELS = 26
WIDTH, HEIGHT, BORDER = 960.0, 680.0, 24.0
LETTER, LINE = 7.4, 15.0  # about the size of a label's letter, in units of the drawing


class Projection(NamedTuple):
    """Places on the map and how much of the variance each axis holds."""

    points: Float64[np.ndarray, "title 2"]
    explained: Float64[np.ndarray, " 2"]


def embedding_map(material: Material) -> Html:
    """Make section `map`."""
    if material.index.height < 3:
        return section("map", "Map of the embeddings", paragraph("Too few aliases for a map."))
    projected = project(material.index_embeddings)
    points = _points(material, projected.points)
    groups = _groups(points)
    shown = points.height
    return section(
        "map",
        "Map of the embeddings",
        paragraph(
            f"{count(shown)} of the {count(material.index.height)} aliases of the index on the two "
            "directions in which the embeddings differ most (principal components, "
            f"{percent(float(projected.explained.sum()))} of the variance; the rest does not show "
            "here). Colours are the first level of the hierarchy, which "
            "training never saw: look for regions of one colour, and for what lies between. "
            "Names stand at the median place of an occupation's aliases. Rest the pointer on a "
            "point to see its title."
        ),
        _legend(material, groups),
        figure(
            _drawing(material, points, groups),
            f"Horizontal axis: {percent(float(projected.explained[0]))} of the variance; vertical: "
            f"{percent(float(projected.explained[1]))}.",
        ),
    )


def project(embeddings: Float[np.ndarray, "title dim"]) -> Projection:
    """Find the first two principal components, scaled to the range −1 … 1."""
    centred = np.asarray(embeddings, dtype=np.float64)
    centred = centred - centred.mean(axis=0)
    # the eigenvectors of dim × dim are the right singular vectors, at any number of titles
    _, squares, axes = np.linalg.svd(centred.T @ centred)
    axes = axes[:2]
    largest = np.abs(axes).argmax(axis=1)
    axes = axes * np.where(axes[np.arange(len(axes)), largest] < 0, -1.0, 1.0)[:, None]
    points = np.zeros((len(centred), 2))
    points[:, : len(axes)] = centred @ axes.T
    explained = np.zeros(2)
    explained[: len(axes)] = squares[:2] / max(float(squares.sum()), 1e-12)
    return Projection(points / max(float(np.abs(points).max()), 1e-12), explained)


def _points(material: Material, places: Float64[np.ndarray, "title 2"]) -> pl.DataFrame:
    """Place the sampled aliases: `title, occupation_id, group, x, y`, in units of the drawing."""
    rng = generator(material.params.seed, "report", "map")
    height = material.index.height
    chosen = np.sort(rng.permutation(height)[:POINTS])
    low, high = places[chosen].min(axis=0), places[chosen].max(axis=0)
    room = np.array([WIDTH, HEIGHT]) - 2 * BORDER
    scaled = BORDER + (places - low) / np.maximum(high - low, 1e-12) * room
    group = pl.col("codes").list.first().fill_null("").alias("group")
    return (
        material.index[chosen]
        .select("title", occupation_id=pl.col("occupation_ids").list.first())
        .with_columns(x=pl.Series(scaled[chosen, 0]), y=pl.Series(HEIGHT - scaled[chosen, 1]))
        .join(
            material.occupations.select("occupation_id", group),
            on="occupation_id",
            how="left",
            maintain_order="left",
        )
    )


def _groups(points: pl.DataFrame) -> dict[str, int]:
    """Give each of the largest groups a colour, in order of codes; the rest has 0, grey."""
    sizes = points.group_by("group").len().sort(["len", "group"], descending=[True, False])
    named = sizes.filter(pl.col("group") != "").head(GROUPS)["group"]
    return {group: colour for colour, group in enumerate(sorted(named), start=1)}


def _legend(material: Material, groups: dict[str, int]) -> Html:
    first = pl.col("codes").list.first()
    largest = (
        material.aliases.group_by("occupation_id")
        .len()
        .join(material.occupations.with_columns(group=first), on="occupation_id")
        .sort("len", "occupation_id", descending=[True, False])
    )
    entries = []
    for group, colour in groups.items():
        labels = largest.filter(pl.col("group") == group)["occupation_label"].head(3).to_list()
        entries.append(tag("li", _swatch(colour), tag("strong", group), f" {listed(labels)}, …"))
    entries.append(tag("li", _swatch(0), "all other codes" if groups else "no code"))
    return tag("ul", *entries, class_="legend")


def _swatch(colour: int) -> Html:
    return Html(f'<svg viewBox="0 0 12 12" aria-hidden="true">{_shape(colour, 6, 6, "")}</svg>')


def _drawing(material: Material, points: pl.DataFrame, groups: dict[str, int]) -> Html:
    marks = join(
        (
            _shape(
                groups.get(row["group"], 0),
                row["x"],
                row["y"],
                tag("title", f"{row['title']} – {material.label(row['occupation_id'])}"),
            )
            for row in points.iter_rows(named=True)
        ),
        "\n",
    )
    return tag(
        "svg",
        marks,
        "\n",
        join(_labels(material, points), "\n"),
        viewBox=f"0 0 {WIDTH:.0f} {HEIGHT:.0f}",
        class_="map",
        role="img",
        aria_label="map of alias embeddings on two principal components",
    )


def _shape(colour: int, x: float, y: float, title: str) -> Html:
    """Draw a circle, square, triangle or diamond, by colour: no one depends on colour alone."""
    kind = colour % 4
    if kind == 0:
        start, end = f'circle cx="{x:.1f}" cy="{y:.1f}" r="3.4"', "circle"
    elif kind == 1:
        start, end = f'rect x="{x - 3:.1f}" y="{y - 3:.1f}" width="6" height="6"', "rect"
    else:
        dy = 3.6 if kind == 2 else 4.4
        low = y + 3 if kind == 2 else y
        last = "" if kind == 2 else f" {x:.1f},{y + dy:.1f}"
        path = f"{x:.1f},{y - dy:.1f} {x + 4:.1f},{low:.1f}{last} {x - 4:.1f},{low:.1f}"
        start, end = f'polygon points="{path}"', "polygon"
    return Html(f'<{start} class="g{colour}">{title}</{end}>')


def _labels(material: Material, points: pl.DataFrame) -> list[Html]:
    """Name the occupations with the most points, those left out that would overlap."""
    medians = (
        points.group_by("occupation_id")
        .agg(pl.len(), pl.col("x", "y").median())
        .sort(["len", "occupation_id"], descending=[True, False])
    )
    taken: list[tuple[float, float, float]] = []
    labels: list[Html] = []
    for occupation, _, x, y in medians.iter_rows():
        text = material.label(occupation)
        half = LETTER * len(text) / 2
        free = all(abs(x - u) > half + v or abs(y - w) > LINE for u, w, v in taken)
        if free and half <= x <= WIDTH - half and len(labels) < LABELS:
            taken.append((x, y, half))
            labels.append(tag("text", text, x=f"{x:.1f}", y=f"{y:.1f}"))
    return labels
