"""Strict CSV: line numbers, faults that stay local, and what a file must have."""

import os
from pathlib import Path

import pytest

from tasks.tables.read_table import read_rows
from tasks.tables.records import BARE_TABS, Format
from tasks.tables.rejected import RejectedRows
from tasks.tables.source_files import IngestError


def read(path: Path, content: bytes, columns: str = "a b", **more):
    """Return rows as (line, values) and refused ones as (line, reason, text)."""
    path.write_bytes(content)
    rejected = RejectedRows()
    rows = list(read_rows(path, {n: n for n in columns.split()}, "From us.", rejected, **more))
    taken = [(row.line, *row.values.values()) for row in rows]
    return taken, [refused[1:] for refused in rejected.refused], rejected


def test_records_start_where_they_start(tmp_path) -> None:
    """Read header 1, a record over lines 2-4 (CRLF inside and outside), the next on line 5."""
    taken, refused, _ = read(tmp_path / "f", b'a,b\r\n1,"x\r\ny\r\nz"\r\n2,w\r\n')
    assert taken == [(2, "1", "x\r\ny\r\nz"), (5, "2", "w")]
    assert refused == []


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (b'3,"unclosed', "broken quotes"),
        (b'3,"closed" too early', "broken quotes"),
        (b"3", "wrong number of fields"),
        (b"3,4,5", "wrong number of fields"),
        (b"3,caf\xe9", "bytes that are not text"),
        (b"3,nul\x00", "bytes that are not text"),
        (b"", "empty row"),
        (b" , ", "empty row"),
    ],
)
def test_a_bad_record_is_refused_alone(tmp_path, bad: bytes, reason: str) -> None:
    """Put good rows around it, one with quotes of its own, one that shows that this is UTF-8."""
    taken, refused, rejected = read(
        tmp_path / "f", b"a,b\n1,x\n" + bad + b'\n2,"y\nz"\n4,"\xc3\xa9"\n'
    )
    assert taken == [(2, "1", "x"), (4, "2", "y\nz"), (6, "4", "é")]
    shown = bad.decode("utf-8", "surrogateescape").encode("utf-8", "backslashreplace").decode()
    assert refused == [(3, reason, shown)]
    assert rejected.rows == {"f": 4}


def test_an_unclosed_quote_at_the_end_keeps_the_rows_after_it(tmp_path) -> None:
    taken, refused, _ = read(tmp_path / "f", b'a,b\n1,"x\n2,y\n3,z\n')
    assert taken == [(3, "2", "y"), (4, "3", "z")]
    assert refused == [(2, "broken quotes", '1,"x')]


def test_a_field_past_the_limit_is_refused_alone(tmp_path) -> None:
    taken, refused, _ = read(tmp_path / "f", b"a,b\n1," + b"x" * 200_000 + b"\n2,y\n")
    assert taken == [(3, "2", "y")]
    reason = "field of more than 131,072 characters"
    assert [fault[:2] for fault in refused] == [(2, reason)]


def test_ten_thousand_characters_pass(tmp_path) -> None:
    title = "👩🏽‍🍳" * 2_500
    taken, _, _ = read(tmp_path / "f", f"a,b\n1,{title}\n".encode())
    assert taken == [(2, "1", title)]


def test_byte_order_mark_and_spaces_in_the_header(tmp_path) -> None:
    taken, _, _ = read(tmp_path / "f", "a , b\n1,x\n".encode("utf-8-sig"))
    assert taken == [(2, "1", "x")]
    taken, _, _ = read(tmp_path / "f", "a,b\n1,é\n".encode("utf-16"))
    assert taken == [(2, "1", "é")]


def test_bare_tabs_take_quotes_as_they_are(tmp_path) -> None:
    taken, refused, _ = read(tmp_path / "f", b'a\tb\n1\t"x\n2\ty"z\n', form=BARE_TABS)
    assert taken == [(2, "1", '"x'), (3, "2", 'y"z')]
    assert refused == []


@pytest.mark.parametrize(
    ("content", "row"),
    [
        (b"sep=;\na;b\n1;x\n", (3, "1", "x")),
        (b"\xef\xbb\xbfSEP=\t\r\na\tb\r\n1\tx\r\n", (3, "1", "x")),
        (b'"sep=,";;\na;b\n1;x\n', (3, "1", "x")),  # it no longer holds
        (b"a,b,,\n1,x\n", (2, "1", "x")),
        (b"a,b\n1,x,, \n", (2, "1", "x")),
        (b"a,b,\n1,x,y\n", (2, "1", "x")),
        (b'a,b\n"""1,1"",x"\n', (2, "1,1", "x")),
    ],
)
def test_what_spreadsheets_add_is_no_fault(tmp_path, content: bytes, row: tuple) -> None:
    assert read(tmp_path / "f.csv", content)[:2] == ([row], [])


@pytest.mark.parametrize("line", ["1,x,,y", "1", '"1,x"', '"""1"",x,y"', '"""1,x"'])
def test_a_width_is_not_guessed(tmp_path, line: str) -> None:
    taken, refused, _ = read(tmp_path / "f.csv", f"a,b\n{line}\n".encode())
    assert (taken, refused) == ([], [(2, "wrong number of fields", line)])


def test_files_of_publishers_are_as_wide_as_they_say(tmp_path) -> None:
    taken, refused, _ = read(tmp_path / "f", b"a\tb\n1\tx\t\n", form=BARE_TABS)
    assert (taken, refused) == ([], [(2, "wrong number of fields", "1\tx\t")])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "no header"),
        (b"\n\n", "no header"),
        (b"a\n1\n", r"no column \['b'\], only \['a'\]"),
        (b"a,b,b\n1,2,3\n", r"column \['b'\] more than once"),
    ],
)
def test_a_file_without_the_columns_is_an_error_that_says_where_from(
    tmp_path, content: bytes, message: str
) -> None:
    with pytest.raises(IngestError, match=message) as error:
        read(tmp_path / "some.csv", content)
    assert "some.csv" in str(error.value)
    assert "From us." in str(error.value)


def test_a_missing_file_is_named(tmp_path) -> None:
    with pytest.raises(IngestError, match=r"absent\.csv is missing\. From us\."):
        list(read_rows(tmp_path / "absent.csv", {"a": "a"}, "From us.", RejectedRows()))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252", "latin-1"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_it_is_read_as_it_is_written(tmp_path, encoding: str, delimiter: str) -> None:
    """Titles hold each of the other delimiters; the rejected says how the file was read."""
    rows = [["b", "n", "a"], ["Köchin, Bäckerin; (m/w)", "1", "x|y"], ["Müller\tMeister", "2", "é"]]
    text = "".join(
        delimiter.join(f'"{field}"' if delimiter in field else field for field in row) + "\r\n"
        for row in rows
    )
    taken, refused, rejected = read(tmp_path / "f.csv", text.encode(encoding))
    assert taken == [(2, "x|y", "Köchin, Bäckerin; (m/w)"), (3, "é", "Müller\tMeister")]
    assert refused == []
    between = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}[delimiter]
    name = {"utf-16": "UTF-16", "cp1252": "Windows-1252 (Latin-1)"}.get(encoding, "UTF-8")
    name = "Windows-1252 (Latin-1)" if encoding == "latin-1" else name
    assert rejected.read_as() == [f"f.csv: {name}, {between} between fields"]


def test_what_is_asked_for_holds(tmp_path) -> None:
    """Take a delimiter that no rule would choose, and an encoding that none could find."""
    form = Format("/", "cp1251")
    taken, _, rejected = read(tmp_path / "f", "a/b\n1,2/повар\n".encode("cp1251"), form=form)
    assert taken == [(2, "1,2", "повар")]
    assert rejected.read_as() == ["f: cp1251, '/' between fields"]


def test_a_wrong_delimiter_is_named_with_the_right_one(tmp_path) -> None:
    message = r"no column \['a', 'b'\], only \['a;b'\]\. It was read with commas .* has semicolons"
    with pytest.raises(IngestError, match=message):
        read(tmp_path / "f.csv", b"a;b\n1;2\n", form=Format(","))


def test_bytes_of_no_known_encoding_are_named_with_their_first_line(tmp_path) -> None:
    """Lines end with three different ends; the header is line 1, the first bad byte in line 3."""
    text = "a,b\r\n1,cook\r2,повар\n3,медсестра\n"
    _, refused, rejected = read(tmp_path / "f.csv", text.encode("cp1251"))
    assert [line for line, *_ in refused] == [3, 4]
    assert rejected.likely_cause() == (
        " f.csv was read as UTF-8, which 2 of its 4 lines are not; first bad byte in line 3: save "
        "it as UTF-8, or name its encoding."
    )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"PK\x03\x04rest", r"an Excel workbook or a zip archive: let its name end in \.xlsx"),
        (b"\xd0\xcf\x11\xe0rest", r"an old .* Excel workbook: save it as \.xlsx"),
        (b"\x1f\x8brest", r"packed with gzip: let its name end in \.gz"),
        (b"PAR1rest", r"a Parquet file: let its name end in \.parquet"),
        (b"\x01\x00\x02\x00a\n" * 9, "binary, or in an unusual encoding: save it as UTF-8"),
    ],
)
def test_what_is_no_table_of_text_is_named(tmp_path, content: bytes, message: str) -> None:
    with pytest.raises(IngestError, match=rf"f\.csv is .*{message}.*From us\."):
        read(tmp_path / "f.csv", content)


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_without_a_mark_is_read(tmp_path, encoding: str) -> None:
    for text in ("a,b\n1,ü\n", "a,b\n1,повар\n2,медсестра\n3,инженер\n"):
        for form in (Format(), Format(encoding=encoding)):
            taken, _, _ = read(tmp_path / "f", text.encode(encoding), form=form)
            assert [row[2] for row in taken] == [line[2:] for line in text.splitlines()[1:]]


@pytest.mark.parametrize("content", [b"a,b\n1,x\x00\n2,y\n", b"a,b\n1,\x00x\n2,y\n"])
def test_a_nul_in_a_small_file_does_not_make_it_utf_16(tmp_path, content: bytes) -> None:
    taken, refused, _ = read(tmp_path / "f", content)
    assert taken == [(3, "2", "y")]
    assert [fault[:2] for fault in refused] == [(2, "bytes that are not text")]


def test_an_encoding_that_the_file_is_not_is_an_error(tmp_path) -> None:
    with pytest.raises(IngestError, match=r"f is not utf-32: .*From us"):
        read(tmp_path / "f", b"a,b\n1,2\n", form=Format(encoding="utf-32"))


def test_a_pipe_is_named(tmp_path) -> None:
    """It was said to be missing."""
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(IngestError, match=r"pipe\.csv is a pipe: name a regular file\. From us"):
        list(read_rows(tmp_path / "pipe.csv", {"a": "a"}, "From us.", RejectedRows()))


def test_a_folder_is_named(tmp_path) -> None:
    with pytest.raises(IngestError, match="is a folder: name the file in it"):
        list(read_rows(tmp_path, {"a": "a"}, "From us.", RejectedRows()))
