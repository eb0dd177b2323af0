"""Physical lines and their ends, and one row a line."""

from tasks.tables.rejected import RejectedRows
from tasks.tables.source_files import SourceFile
from tasks.tables.text import file_encoding, line_rows, text_lines


def test_only_the_three_line_ends_split(tmp_path) -> None:
    path = tmp_path / "lines"
    path.write_bytes("a\r\nb\rc\nd\u2028e\x0bf".encode())
    file = SourceFile.at(path, "")
    lines = list(text_lines(file, "", RejectedRows(), file_encoding(file, "")))
    assert lines == ["a\r\n", "b\r", "c\n", "d\u2028e\x0bf"]


def test_lines_are_rows_and_blank_or_bad_ones_are_refused(tmp_path) -> None:
    path = tmp_path / "titles.txt"
    path.write_bytes(b"\xef\xbb\xbf nurse \r\n\r\nbad \xff\r\ncook")
    rejected = RejectedRows()
    rows = [(row.line, row.values["x"]) for row in line_rows(path, "x", "", rejected)]
    assert rows == [(1, " nurse "), (4, "cook")]
    assert rejected.refused == [
        ("titles.txt", 2, "empty row", ""),
        ("titles.txt", 3, "bytes that are not text", "bad \\udcff"),
    ]
    assert rejected.rows == {"titles.txt": 4}
