"""Tables of a page as rows of text."""

import re

TABLE = re.compile(r"<caption>(.*?)</caption>(.*?)</table>", re.S)
ROW = re.compile(r'<tr><th scope="row">(.*?)</th>(.*?)</tr>', re.S)


def tables(page: str) -> dict[str, list[tuple[str, ...]]]:
    """Map each caption to its rows, as text."""
    return {
        caption: [
            (head, *re.findall(r"<td[^>]*>(.*?)</td>", cells)) for head, cells in ROW.findall(body)
        ]
        for caption, body in TABLE.findall(page)
    }
