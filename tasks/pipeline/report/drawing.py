"""Matplotlib figures as inline SVG: equal figures give equal bytes, colours follow the page.

The colours below are drawn as they are and then named as variables of the style sheet, so that the
dark page has its own. Text stays text. No title comes here: Matplotlib's fonts lack many
scripts, a browser's do not.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from typing import Any

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tasks.pipeline.report.markup import Html, safe, tag

INK, FAINT = "#1f2328", "#c9ced6"
BLUE, ORANGE, GREEN, GREY = "#0072b2", "#d55e00", "#009e73", "#767676"
VARIABLES = {
    INK: "ink",
    FAINT: "line",
    BLUE: "blue",
    ORANGE: "orange",
    GREEN: "green",
    GREY: "grey",
}
SYSTEM_COLOURS = {"ngram": ORANGE, "tfidf": GREEN, "untrained": GREY}
STYLE = {
    "svg.fonttype": "none",
    "font.family": "DejaVu Sans",
    "font.size": 9,
    **dict.fromkeys(("text.color", "axes.labelcolor", "xtick.color", "ytick.color"), INK),
    "axes.edgecolor": FAINT,
    "axes.grid": True,
    "axes.axisbelow": True,
    **{f"axes.spines.{side}": False for side in ("top", "right")},
    "axes.titlesize": 10,
    "axes.titlelocation": "left",
    "grid.color": FAINT,
    "grid.linewidth": 0.5,
    **{f"{axis}tick.{kind}.size": 0 for axis in "xy" for kind in ("major", "minor")},
    "lines.linewidth": 1.8,
    "legend.frameon": False,
    "axes.unicode_minus": True,
}
METADATA = {"Date": None, "Creator": None, "Format": None, "Type": None}


def figure(
    name: str,
    meaning: str,
    caption: object,
    plot: Callable[[Axes], None],
    width: float = 4.6,
    height: float = 3.0,
) -> Html:
    """Draw one set of axes as inline SVG over a caption; Matplotlib's settings change in here only.

    `name`: distinct on the page; keeps the identifiers inside the SVG apart; `width`: inches, where
    a letter of the text is 9/72 of one.
    """
    settings: Any = {**STYLE, "svg.hashsalt": name}
    written = io.StringIO()
    with rc_context(settings):
        drawn = Figure(figsize=(width, height), layout="constrained", facecolor="none")
        plot(drawn.add_subplot(facecolor="none"))
        drawn.savefig(written, format="svg", metadata=METADATA)
    drawing = _inline(written.getvalue(), meaning)
    return Html(f"<figure>{drawing}{tag('figcaption', caption)}</figure>")


def _inline(svg: str, meaning: str) -> Html:
    """Cut out the `<svg>`, without what HTML does not need or would apply to the whole page."""
    svg = svg[svg.index("<svg") :].rstrip()
    svg = re.sub(r' xmlns(:xlink)?="[^"]*"', "", svg).replace("xlink:href", "href")
    svg = re.sub(r"<style.*?</style>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'<g id="[^"]*_\d+"', "<g", svg)
    svg = re.sub(r"font-family: [^;\"]*;? ?", "", svg)
    svg = re.sub(r" (width|height)=\"[\d.]+pt\"", "", svg)
    for colour, name in VARIABLES.items():
        svg = svg.replace(colour, f"var(--{name})")
    svg = re.sub(r"\n\s*", " ", svg)
    return Html(svg.replace("<svg", f'<svg role="img" aria-label="{safe(meaning)}"', 1))
