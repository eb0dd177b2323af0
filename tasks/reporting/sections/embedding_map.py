"""A map of the index: alias embeddings on a plane (`tasks/reporting/neighbour_map.py`).

Coloured by the broadest level of the hierarchy. Drawn as SVG by hand, not with Matplotlib: every
point carries its title for the pointer, and titles need a browser's fonts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from models.repeatable.seeding import child_seed, generator
from tasks.reporting.markup import Html, figure, join, paragraph, section, tag
from tasks.reporting.material import Material
from tasks.reporting.names import count, listed, percent
from tasks.reporting.neighbour_map import kept_neighbours, places

if TYPE_CHECKING:
    from jaxtyping import Float64, Int64

POINTS = 1500
GROUPS = 8  # more colours cannot be told apart; smaller groups share grey
LABELS = 26
WIDTH, HEIGHT, BORDER = 960.0, 680.0, 24.0
LETTER, LINE = 7.4, 15.0  # about the size of a label's letter, in units of the drawing


def embedding_map(material: Material) -> Html:
    """Make section `map`."""
    if material.index.height < 3:
        return section("map", "Map of the embeddings", paragraph("Too few aliases for a map."))
    rows = sample_rows(material)
    embeddings = material.index_embeddings[rows]
    found = places(embeddings, child_seed(material.params.seed, "report", "map", "start"))
    points = _points(material, rows, found)
    groups = _groups(points)
    return section(
        "map",
        "Map of the embeddings",
        paragraph(
            f"{count(len(rows))} of the {count(material.index.height)} aliases of the index, whole "
            "occupations drawn at random, laid out so that aliases with similar embeddings lie "
            "close together (t-SNE). Of "
            f"{percent(kept_neighbours(embeddings, found))} of them the closest one on the map is "
            "among their ten closest embeddings; long distances and empty space mean nothing. "
            "Colours are the first level of the hierarchy, which training never saw: look for "
            "islands of one colour, and for single points on another's. Names stand at the median "
            "place of an occupation's aliases. Rest the pointer on a point to see its title."
        ),
        _legend(material, groups),
        figure(_drawing(material, points, groups), "The axes have no meaning and no unit."),
    )


def sample_rows(material: Material) -> Int64[np.ndarray, " title"]:
    """Draw rows of the index: all aliases of an occupation, until there are `POINTS`."""
    first = material.index["occupation_ids"].list.first()
    occupations = first.unique().sort()
    turn = generator(material.params.seed, "report", "map").permutation(len(occupations))
    rows = np.argsort(turn[occupations.search_sorted(first).to_numpy()], kind="stable")
    return np.sort(rows[:POINTS])


def _points(
    material: Material,
    rows: Int64[np.ndarray, " title"],
    found: Float64[np.ndarray, "title 2"],
) -> pl.DataFrame:
    """Place the drawn aliases: `title, occupation_id, group, x, y`, in units of the drawing."""
    low, high = found.min(axis=0), found.max(axis=0)
    room = np.array([WIDTH, HEIGHT]) - 2 * BORDER
    scaled = BORDER + (found - low) / np.maximum(high - low, 1e-12) * room
    group = pl.col("codes").list.first().fill_null("").alias("group")
    return (
        material.index[rows]
        .select("title", occupation_id=pl.col("occupation_ids").list.first())
        .with_columns(x=pl.Series(scaled[:, 0]), y=pl.Series(HEIGHT - scaled[:, 1]))
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
        aria_label="map of alias embeddings, similar ones close together",
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
