"""The reader gives what Python's csv module gives, whatever the dialect, and loses no row.

`READER_FILES=20000 pytest tests/tasks/apps/bulk/test_source_against_csv.py` tries as many files.
"""

import csv
import io
import os
import re
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tasks.apps.bulk.inspection import Refused
from tasks.apps.bulk.source import TitleSource

FILES = int(os.environ.get("READER_FILES", "300"))
pytestmark = pytest.mark.thorough

FOUND = ("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be")
ENCODINGS = [*FOUND, "cp1252", "cp1250", "shift_jis"]  # the last three are named to the reader
NAMES = ["job_title", "id", "city", "note"]
Table = tuple[list[str], list[list[str]], dict[str, Any], str]
PIECES = ["nurse", "Köchin", "řezník", "料理人", " ", "", '"', '""', *",;\t|\n", "\r\n"]
PIECES += ["\r", "'", "\\", "=1+1", "#", "sep=;", "a, b", "\u2028", "👩‍🍳", "0", "x" * 300]


def fitting(field: str, dialect: Mapping[str, Any], encoding: str) -> str:
    field = field.replace("\x00", "").replace("\ufeff", "")
    field = field.encode(encoding, "ignore").decode(encoding)
    breaks = "\n" in field or "\r" in field
    return field.replace(dialect["delimiter"], "") if breaks else field


def random_table(random: Random) -> Table:
    """Draw header, rows, dialect and encoding; no field has both a delimiter and a line break.

    One that has both may hold what looks like whole rows, which is another test's matter.
    """
    dialect = {"delimiter": random.choice(",;\t|"), "end": random.choice(["\n", "\r\n", "\r"])}
    dialect |= {"quote_all": random.random() < 0.5}
    header, encoding = NAMES[: random.randint(1, len(NAMES))], random.choice(ENCODINGS)
    random.shuffle(header)
    rows = [
        [
            fitting("".join(random.choices(PIECES, k=random.randint(0, 4))), dialect, encoding)
            for _ in header
        ]
        for _ in range(random.randint(0, 12))
    ]
    return header, rows, dialect, encoding


def as_text(rows: Sequence[Sequence[str]], dialect: Mapping[str, Any]) -> str:
    """Write as csv.writer does since Python 3.13, which quotes every line break."""
    special = {dialect["delimiter"], '"', "\r", "\n"}

    def field(text: str) -> str:
        quoted = dialect["quote_all"] or special & set(text)
        return '"' + text.replace('"', '""') + '"' if quoted else text

    lines = [dialect["delimiter"].join(map(field, row)) for row in rows]
    return "".join(line + dialect["end"] for line in lines)


def read(content: bytes, encoding: str = "") -> tuple[list[list[str]], list[Refused]]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "in.csv"
        path.write_bytes(content)
        found, refused = TitleSource.find(str(path), ["job_title"], encoding), list[Refused]()
        parts = list(found.parts(found.files[0], refused.append))
        return [[*row.values()] for part in parts for row in part.to_pylist()], refused


@pytest.mark.parametrize("seed", range(FILES))
def test_a_random_file_is_read_as_it_is_written(seed: int) -> None:
    """Compare with the csv module on the same text; a blank line is a row of one column alone."""
    random = Random(seed)
    header, rows, dialect, encoding = table = random_table(random)
    text = as_text([header, *rows], dialect) + dialect["end"] * 2 * (random.random() < 0.2)
    expected = list(csv.reader(io.StringIO(text, newline=""), delimiter=dialect["delimiter"]))[1:]
    taken, refused = read(text.encode(encoding), "" if encoding in FOUND else encoding)
    if len(header) == 1:
        assert (taken, refused) == ([row or [""] for row in expected], []), table
    else:
        assert taken == [row for row in expected if row], table
        assert [one.reason for one in refused] == ["empty row"] * expected.count([]), table


@pytest.mark.parametrize("seed", range(200))
def test_a_stray_quote_loses_no_row(seed: int) -> None:
    """Put a quote anywhere below the header, or take one away: each row is taken or refused.

    But for a file that is valid all the same, so that nothing tells a row from a part of a field.
    """
    random = Random(seed)
    _, rows, dialect, _ = random_table(random)
    rows = [[re.sub(r"[\r\n]", "", field) for field in row[:2]] for row in rows]
    rows = [[f"<{number}>", "title", *row] for number, row in enumerate(rows)]
    names = ["id", "job_title", "a", "b"][: len(rows[0])] if rows else ["id", "job_title"]
    head, body = as_text([names], dialect), as_text(rows, dialect)
    quotes = [position for position, char in enumerate(body) if char == '"']
    added = not quotes or random.random() < 0.5
    at = random.randint(0, len(body)) if added else random.choice(quotes)
    body = body[:at] + '"' * added + body[at + (not added) :]
    taken, refused = read((head + body).encode())
    ids = {row[0].replace('"', "") for row in taken}
    lines = "".join(one.row for one in refused).replace('"', "")
    lost = [at for at in range(len(rows)) if f"<{at}>" not in ids and f"<{at}>" not in lines]
    assert not lost or is_valid(body, dialect["delimiter"]), body


def is_valid(text: str, delimiter: str) -> bool:
    try:
        list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True))
    except csv.Error:
        return False
    return True
