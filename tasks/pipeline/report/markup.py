"""HTML from values: whatever is not already `Html` is escaped, so a title cannot become markup.

`Html` is a string that is known to be safe. Joining it with a plain string gives a plain string,
which is escaped again: a slip shows as visible entities, never as a hole.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape

PLANES = range(0, 0x110000, 0x10000)
LAST_OF_PLANES = "".join(chr(plane + last) for plane in PLANES for last in (0xFFFE, 0xFFFF))
FORBIDDEN = re.compile(rf"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef{LAST_OF_PLANES}]")
"""Controls, surrogates and noncharacters."""


class Html(str):
    """Markup that may stand in the page as it is."""

    __slots__ = ()


def safe(value: object) -> Html:
    """Return `value` as it is if it is `Html`, otherwise escaped for text and attributes.

    Characters that no HTML document may hold (controls, surrogates) become U+FFFD.
    """
    if isinstance(value, Html):
        return value
    return Html(escape(FORBIDDEN.sub("\ufffd", str(value)), quote=True))


class NumberHead(str):
    """The head of a column of numbers, whose cells are aligned as such."""

    __slots__ = ()


def join(parts: Iterable[object], between: str = "") -> Html:
    """Make each part safe and put them together; `between` is markup."""
    return Html(between.join(safe(part) for part in parts))


def lines(*parts: object) -> Html:
    """Put parts one below the other."""
    return join(parts, "\n")


def tag(name: str, *content: object, **attributes: object) -> Html:
    """Make one element. `class_` stands for `class`, `_` in other attributes' names for `-`."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{safe(value)}"' for key, value in attributes.items()
    )
    return Html(f"<{name}{written}>{join(content)}</{name}>")


def section(anchor: str, title: str, *content: object) -> Html:
    """Make a section with a heading that the list of contents can point to."""
    heading = tag("h2", title, id=f"{anchor}-title")
    attributes = f'id="{anchor}" aria-labelledby="{anchor}-title"'
    return Html(f"<section {attributes}>\n{heading}\n{lines(*content)}\n</section>")


def paragraph(*content: object, **attributes: object) -> Html:
    """Make a paragraph."""
    return tag("p", *content, **attributes)


def table(caption: object, head: Sequence[str], rows: Iterable[Sequence[object]]) -> Html:
    """Make a table; the first cell of each row is its header."""
    body = tag("tbody", lines(*(table_row(head, row) for row in rows)))
    return table_of_bodies(caption, head, [body])


def table_of_bodies(caption: object, head: Sequence[str], bodies: Iterable[Html]) -> Html:
    """Make a table from ready `<tbody>`s, in a frame that scrolls sideways on a narrow screen."""
    heads = [tag("th", cell, scope="col", **_alignment(cell)) for cell in head]
    whole = tag("table", tag("caption", caption), tag("thead", tag("tr", *heads)), *bodies)
    return tag("div", whole, class_="scroll")


def table_row(head: Sequence[str], cells: Sequence[object]) -> Html:
    """Make a row below `head`: its first cell is the header; cells that are `<td>`s stay."""
    first, *rest = cells
    others = [
        cell if _is_td(cell) else tag("td", cell, **_alignment(column))
        for column, cell in zip(head[1:], rest, strict=True)
    ]
    return tag("tr", tag("th", first, scope="row"), *others)


def _alignment(head: str) -> dict[str, str]:
    return {"class_": "number"} if isinstance(head, NumberHead) else {}


def _is_td(value: object) -> bool:
    return isinstance(value, Html) and value.startswith("<td")
