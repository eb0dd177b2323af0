"""JSON Lines are rows as any others, and a line that is no object is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tasks.tables import json_lines
from tasks.tables.read_table import read_rows
from tasks.tables.rejected import RejectedRows
from tasks.tables.source_files import IngestError

MAP = {"title": "t", "id": "id"}


def read(path: Path, content: str, encoding: str = "utf-8") -> tuple[list[tuple], RejectedRows]:
    path.write_bytes(content.encode(encoding))
    rejected = RejectedRows()
    rows = read_rows(path, MAP, "From us.", rejected)
    return [(row.line, *row.values.values()) for row in rows], rejected


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_members_are_columns_whatever_their_order(tmp_path: Path, encoding: str) -> None:
    objects = [{"id": 2231.0, "t": "Köchin, ✓"}, {"t": "a\nb", "x": [1]}, {"id": None, "t": ""}]
    text = "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in objects)
    taken, rejected = read(tmp_path / "f.ndjson", text, encoding)
    assert taken == [(1, "Köchin, ✓", "2231"), (2, "a\nb", ""), (3, "", "")]
    assert rejected.refused == []
    assert rejected.read_as()[0].endswith(", JSON Lines")


def test_lines_that_are_no_object_are_refused_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json_lines, "OBJECTS", 4)
    text = '{"t": "a", "id": 1}\n{"t"\n[1]\n\n{"t": "b\\u0000"}\n{"t": "c", "new": 1}\n{"t": "d"}\n'
    taken, rejected = read(tmp_path / "f.jsonl", text)
    assert [title for _, title, _ in taken] == ["a", "d"]
    assert [(line, reason) for _, line, reason, _ in rejected.refused] == [
        (2, json_lines.BAD_JSON),
        (3, json_lines.BAD_JSON),
        (4, "empty row"),
        (5, "bytes that are not text"),
        (6, json_lines.NEW_MEMBER),
    ]


def test_a_file_without_the_columns_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(IngestError, match=r"no column \['id'\], only \['t'\]\. From us"):
        read(tmp_path / "f.jsonl", '{"t": 1}\n')
    with pytest.raises(IngestError, match=r"no line with a JSON object\. From us"):
        read(tmp_path / "f.jsonl", "t,id\n")
