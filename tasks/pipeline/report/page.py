"""The parts of a page: Jinja2 templates in one environment, and Matplotlib figures as inline SVG.

The report and the page of a decision are self-contained HTML, and equal figures give equal bytes.
Templates escape whatever is not `Markup`. Colours are drawn as they are and then named as variables
of `page.css`, so that the dark page has its own. A figure has no title: Matplotlib's fonts lack
many scripts, a browser's do not.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from tasks.pipeline.report.names import count, counted, mix_words, percent, share

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TEMPLATES = Path(__file__).parents[2]  # the folder `tasks`
LAST_OF_PLANES = "".join(
    chr(plane + last) for plane in range(0, 0x110000, 0x10000) for last in (0xFFFE, 0xFFFF)
)
# no HTML document may hold these: controls, surrogates and noncharacters
FORBIDDEN = re.compile(rf"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef{LAST_OF_PLANES}]")
LINKS, MAIN = '<nav aria-label="Sections"><ul>', "<main>"  # where the links and the sections begin

INK, FAINT = "#1f2328", "#c9ced6"
BLUE, ORANGE, GREEN, GREY = "#0072b2", "#d55e00", "#009e73", "#767676"
COLOURS = {"ink": INK, "line": FAINT, "blue": BLUE, "orange": ORANGE, "green": GREEN, "grey": GREY}
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


def render(template: str, **values: object) -> str:
    """Fill in a template, named by its path below `tasks`."""
    return FORBIDDEN.sub("\ufffd", _environment().get_template(template).render(values))


def section(name: str, **values: object) -> Markup:
    """Fill in a section of the report, a macro of `sections.html.j2`."""
    template = _environment().get_template("pipeline/report/sections.html.j2")
    return Markup(FORBIDDEN.sub("\ufffd", getattr(template.module, name)(**values)))


def strong(text: object) -> Markup:
    """Set a cell of a table in bold."""
    return Markup("<strong>{}</strong>").format(text)


def with_first_section(document: str, anchor: str, name: str, first: Markup) -> str:
    """Put a section and its link before all others; ValueError if it is no report."""
    if any(document.count(start) != 1 for start in (LINKS, MAIN)):
        raise ValueError("this is not the page of the stage report: run `dvc repro report`")
    link = f'{LINKS}<li><a href="#{anchor}">{escape(name)}</a></li>'
    return document.replace(LINKS, link).replace(MAIN, f"{MAIN}\n{first}")


def drawing(
    name: str, meaning: str, plot: Callable[[Axes], None], width: float = 4.6, height: float = 3.0
) -> Markup:
    """Draw one set of axes as inline SVG; `name` keeps its identifiers apart; sizes in inches."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    settings: Any = {**STYLE, "svg.hashsalt": name}
    written = io.StringIO()
    with rc_context(settings):
        figure = Figure(figsize=(width, height), layout="constrained", facecolor="none")
        plot(figure.add_subplot(facecolor="none"))
        figure.savefig(written, format="svg", metadata=METADATA)
    return _inline(written.getvalue(), meaning)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    for written in (count, counted, mix_words, percent, share):
        environment.filters[written.__name__] = written
    return environment


def _inline(svg: str, meaning: str) -> Markup:
    """Cut out the `<svg>`, without what HTML does not need or would apply to the whole page."""
    svg = svg[svg.index("<svg") :].rstrip()
    svg = re.sub(r' xmlns(:xlink)?="[^"]*"', "", svg).replace("xlink:href", "href")
    svg = re.sub(r"<style.*?</style>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'<g id="[^"]*_\d+"', "<g", svg)
    svg = re.sub(r"font-family: [^;\"]*;? ?", "", svg)
    svg = re.sub(r" (width|height)=\"[\d.]+pt\"", "", svg)
    for name, colour in COLOURS.items():
        svg = svg.replace(colour, f"var(--{name})")
    svg = re.sub(r"\n\s*", " ", svg)
    return Markup(svg.replace("<svg", f'<svg role="img" aria-label="{escape(meaning)}"', 1))
