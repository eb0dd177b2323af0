"""HTML from values: whatever is not already `Html` is escaped, so a title cannot become markup.

`Html` is a string that is known to be safe. Joining it with a plain string gives a plain string,
which is escaped again: a slip shows as visible entities, never as a hole.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape


class Html(str):
    """Markup that may stand in the page as it is."""

    __slots__ = ()


def safe(value: object) -> Html:
    """Return `value` as it is if it is `Html`, otherwise escaped for text and attributes.

    Characters that no HTML document may hold (controls, surrogates) become U+FFFD.
    """
    if isinstance(value, Html):
        return value
    kept = "".join(c if _allowed(c) else "\ufffd" for c in str(value))
    return Html(escape(kept, quote=True))


def join(parts: Iterable[object], between: str = "") -> Html:
    """Make each part safe and put them together; `between` is markup."""
    return Html(between.join(safe(part) for part in parts))


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
    return Html(f"<section {attributes}>\n{heading}\n{join(content, chr(10))}\n</section>")


def paragraph(*content: object, class_: str | None = None) -> Html:
    """Make a paragraph."""
    return tag("p", *content, class_=class_) if class_ else tag("p", *content)


def table(caption: object, head: Sequence[object], rows: Iterable[Sequence[object]]) -> Html:
    """Make a table; the first cell of each row is its header, `Html` cells may be whole `<td>`s."""
    body = tag("tbody", join((table_row(row) for row in rows), "\n"))
    return table_of_bodies(caption, head, [body])


def table_of_bodies(caption: object, head: Sequence[object], bodies: Iterable[Html]) -> Html:
    """Make a table from ready `<tbody>`s, in a frame that scrolls sideways on a narrow screen."""
    whole = tag("table", tag("caption", caption), table_head(head), *bodies)
    return tag("div", whole, class_="scroll")


def table_head(cells: Sequence[object]) -> Html:
    """Make the head of each column; cells that are `<th>`s already stay."""
    made = [cell if _is_cell(cell, "th") else tag("th", cell, scope="col") for cell in cells]
    return tag("thead", tag("tr", *made))


def table_row(cells: Sequence[object]) -> Html:
    """Make a row: its first cell is the header; cells that are `<td>`s already stay."""
    first, *rest = cells
    made = [cell if _is_cell(cell, "td") else tag("td", cell) for cell in rest]
    return tag("tr", tag("th", first, scope="row"), *made)


def number(value: object) -> Html:
    """Make a table cell that is aligned as a number."""
    return tag("td", value, class_="number")


def number_head(value: object) -> Html:
    """Make the head of a column of numbers."""
    return tag("th", value, scope="col", class_="number")


def figure(drawing: Html, caption: object) -> Html:
    """Put a drawing and what to look for in it together."""
    return Html(f"<figure>{drawing}{tag('figcaption', caption)}</figure>")


def _is_cell(value: object, name: str) -> bool:
    return isinstance(value, Html) and value.startswith(f"<{name}")


def _allowed(character: str) -> bool:
    code = ord(character)
    return character in "\t\n" or (code >= 32 and not 127 <= code < 160 and not _no_scalar(code))


def _no_scalar(code: int) -> bool:
    return 0xD800 <= code < 0xE000 or 0xFDD0 <= code < 0xFDF0 or code & 0xFFFE == 0xFFFE
