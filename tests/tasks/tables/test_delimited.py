"""Delimited text: its format, strict records that lose no line, and faults that stay local."""

import csv
import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.tables.delimited import (
    BARE_TABS,
    DELIMITERS,
    Format,
    Records,
    checked_delimiter,
    checked_encoding,
    find_format,
)
from tasks.tables.read_table import read_rows
from tasks.tables.rejected import RejectedRows
from tasks.tables.source_files import IngestError

COMMAS = Format(",")
CELL = st.text("ab ,;|\t\"'", min_size=1, max_size=8)
FIELD = st.text(st.characters(exclude_categories=["Cs"]), max_size=12) | st.sampled_from(
    ['"', '""', "a\nb", "a\r\nb", "\r", ",", "🧑‍🚀", " ", ""]
)
ROWS = st.lists(st.lists(FIELD, min_size=2, max_size=3), min_size=1, max_size=6)


def lines(text: str) -> list[str]:
    return list(io.StringIO(text, newline=""))


def read(path: Path, content: bytes, **more):
    """Return rows as (line, values) and refused ones as (line, reason, text)."""
    path.write_bytes(content)
    rejected = RejectedRows()
    rows = list(read_rows(path, {"a": "a", "b": "b"}, "From us.", rejected, **more))
    taken = [(row.line, *row.values.values()) for row in rows]
    return taken, [refused[1:] for refused in rejected.refused], rejected


@pytest.mark.thorough
@given(rows=ROWS)
def test_any_text_survives_quoting(rows: list[list[str]]) -> None:
    """Make a round trip; the oracle counts the text's line breaks before a record for its start."""
    text, starts = [], []
    for row in rows:
        written = io.StringIO(newline="")
        csv.writer(written, quoting=csv.QUOTE_ALL, lineterminator="\r\n").writerow(row)
        starts.append(1 + len(text))
        text += lines(written.getvalue())
    split = list(Records(text, COMMAS))
    assert [fields for _, _, fields in split] == rows
    assert [line for line, _, _ in split] == starts


@pytest.mark.thorough
@given(text=st.text('ab,"\n', max_size=40), first=st.integers(1, 9))
def test_lines_are_read_as_they_are_asked_for(text: str, first: int) -> None:
    """A stream gives what a list gives, and the first record of a file reads no second one."""
    streamed = list(Records(iter(lines(text)), COMMAS, first))
    assert streamed == [(line + first - 1, *rest) for line, *rest in Records(lines(text), COMMAS)]
    more = iter(["a,b\n", *lines(text)])
    assert next(Records(more, COMMAS)) == (1, "a,b", ["a", "b"])
    assert list(more) == lines(text)


@given(text=st.text('ab,"\n\\', max_size=40), backslash=st.booleans())
def test_no_line_is_lost_whatever_the_quotes(text: str, backslash: bool) -> None:
    """Cover every physical line once and in order by records, refused ones included."""
    split = list(Records(lines(text), Format(",", backslash=backslash)))
    starts = [start for start, _, _ in split] + [len(lines(text)) + 1]
    assert starts[0] == 1
    for (start, record, _), end in zip(split, starts[1:], strict=True):
        assert record == "".join(lines(text)[start - 1 : end - 1]).rstrip("\n")


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (b'3,"unclosed', "broken quotes"),
        (b'3,"closed" too early', "broken quotes"),
        (b"3," + b"x" * 200_000, "field of more than 131,072 characters"),
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
    content = b"a,b\n1,x\n" + bad + b'\n2,"y\nz"\n4,"\xc3\xa9"\n'
    taken, refused, rejected = read(tmp_path / "f", content)
    assert taken == [(2, "1", "x"), (4, "2", "y\nz"), (6, "4", "é")]
    shown = bad.decode("utf-8", "surrogateescape").encode("utf-8", "backslashreplace").decode()
    assert refused == [(3, reason, shown)]
    assert rejected.rows == {"f": 4}


@pytest.mark.parametrize("word", ["y", r'"\"y\""'])
def test_an_unclosed_quote_at_the_end_keeps_the_rows_after_it(tmp_path, word: str) -> None:
    """Also where a backslash stands before quotes."""
    taken, refused, _ = read(tmp_path / "f", f'a,b\n0,{word}\n1,"x\n2,y\n3,z\n'.encode())
    plain = word.replace('"', "").replace("\\", '"')
    assert taken == [(2, "0", plain), (4, "2", "y"), (5, "3", "z")]
    assert refused == [(3, "broken quotes", '1,"x')]


def test_bare_tabs_take_quotes_and_widths_as_they_are(tmp_path) -> None:
    """Files of publishers are as wide as they say."""
    content = b'a\tb\n1\t"x\n2\ty"z\n3\tx\t\n'
    taken, refused, _ = read(tmp_path / "f", content, form=BARE_TABS)
    assert taken == [(2, "1", '"x'), (3, "2", 'y"z')]
    assert refused == [(4, "wrong number of fields", "3\tx\t")]


@pytest.mark.parametrize(
    ("content", "row"),
    [
        (b"a , b\n1,x\n", (2, "1", "x")),
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


@pytest.mark.parametrize(
    ("content", "form", "message"),
    [
        (b"\n\n", Format(), "no header"),
        (b"a\n1\n", Format(), r"no column \['b'\], only \['a'\]"),
        (b"a,b,b\n1,2,3\n", Format(), r"column \['b'\] more than once"),
        (b"a;b\n1;2\n", COMMAS, r"only \['a;b'\]\. It was read with commas .* has semicolons"),
        (b"a,b\n1,2\n", Format(encoding="utf-32"), "is not utf-32: "),
        (b"PK\x03\x04rest", Format(), r"an Excel workbook or a zip archive: .* end in \.xlsx"),
        (b"\xd0\xcf\x11\xe0rest", Format(), r"an old .* Excel workbook: save it as \.xlsx"),
        (b"\x1f\x8brest", Format(), r"packed with gzip: let its name end in \.gz"),
        (b"PAR1rest", Format(), r"a Parquet file: let its name end in \.parquet"),
        (b"\x01\x00\x02\x00a\n" * 9, Format(), "binary, or in an unusual encoding: save it as UTF"),
    ],
)
def test_a_file_that_cannot_be_read_is_an_error_that_says_where_from(
    tmp_path, content: bytes, form: Format, message: str
) -> None:
    with pytest.raises(IngestError, match=rf"some\.csv .*{message}.*From us\."):
        read(tmp_path / "some.csv", content, form=form)


@pytest.mark.parametrize(
    ("encoding", "name", "delimiter", "between"),
    [
        ("utf-8", "UTF-8", ",", "commas"),
        ("utf-8-sig", "UTF-8", ";", "semicolons"),
        ("utf-16", "UTF-16", "\t", "tabs"),
        ("cp1252", "Windows-1252 (Latin-1)", "|", "vertical bars"),
    ],
)
def test_it_is_read_as_it_is_written(tmp_path, encoding, name, delimiter, between) -> None:
    """Titles hold each of the other delimiters; the rejected says how the file was read."""
    rows = [["b", "n", "a"], ["Köchin, Bäckerin; (m/w)", "1", "x|y"], ["Müller\tMeister", "2", "é"]]
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=delimiter).writerows(rows)
    taken, refused, rejected = read(tmp_path / "f.csv", text.getvalue().encode(encoding))
    assert taken == [(2, "x|y", "Köchin, Bäckerin; (m/w)"), (3, "é", "Müller\tMeister")]
    assert refused == []
    assert rejected.read_as() == [f"f.csv: {name}, {between} between fields"]


def test_what_is_asked_for_holds(tmp_path) -> None:
    """Take a delimiter that no rule would choose, and an encoding that none could find."""
    form = Format("/", "cp1251")
    taken, _, rejected = read(tmp_path / "f", "a/b\n1,2/повар\n".encode("cp1251"), form=form)
    assert taken == [(2, "1,2", "повар")]
    assert rejected.read_as() == ["f: cp1251, '/' between fields"]


def test_bytes_of_no_known_encoding_are_named_with_their_first_line(tmp_path) -> None:
    """Lines end with three different ends; the header is line 1, the first bad byte in line 3."""
    text = "a,b\r\n1,cook\r2,повар\n3,медсестра\n"
    _, refused, rejected = read(tmp_path / "f.csv", text.encode("cp1251"))
    assert [line for line, *_ in refused] == [3, 4]
    assert rejected.likely_cause() == (
        " f.csv was read as UTF-8, which 2 of its 4 lines are not; first bad byte in line 3: save "
        "it as UTF-8, or name its encoding."
    )


@pytest.mark.parametrize("content", [b"a,b\n1,x\x00\n2,y\n", b"a,b\n1,\x00x\n2,y\n"])
def test_a_nul_in_a_small_file_does_not_make_it_utf_16(tmp_path, content: bytes) -> None:
    taken, refused, _ = read(tmp_path / "f", content)
    assert taken == [(3, "2", "y")]
    assert [fault[:2] for fault in refused] == [(2, "bytes that are not text")]


@pytest.mark.thorough
@given(
    delimiter=st.sampled_from(list(DELIMITERS)),
    rows=st.lists(st.tuples(CELL, CELL, CELL), max_size=8),
)
def test_the_format_is_found_whatever_the_fields_hold(delimiter, rows) -> None:
    """Quote as the csv module does, then know the columns, as every reader does."""
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=delimiter).writerows([("one", "two", "three"), *rows])
    found = find_format(lines(text.getvalue()), {"three", "one"})
    assert found == (Format(delimiter), ["one", "two", "three"], 1.0, 0, 1.0)


@pytest.mark.parametrize(
    ("text", "needed", "form", "header"),
    [
        ("a;b\n1;x, y\n2;z\n", (), Format(";"), ["a", "b"]),
        ("a;b\n1,5;x\n2,5;z\n", (), Format(";"), ["a", "b"]),  # a comma in each row alone
        ("a, as written;b\n1;x\n2;y\n", (), Format(";"), ["a, as written", "b"]),
        ("a,b;c\n1,2;3\n4,5;6,\n", (), Format(";"), ["a,b", "c"]),  # commas are not as constant
        ("a\tb,c\td\n1\t2,3\t4\n", (), Format("\t"), ["a", "b,c", "d"]),  # the wider one
        ("a|b\n1|x;y\n", (), Format("|"), ["a", "b"]),
        ("a\n1\n", (), COMMAS, ["a"]),
        ("", (), COMMAS, []),
        ('a,b\n1,"x \\"y\\""\n2,z\n', (), Format(",", backslash=True), ["a", "b"]),
        ("a,b\nx\ny\n", (), COMMAS, ["a", "b"]),  # a header that is split is no single column
        ("a,b\nx\ny\n", ["a,b"], Format(";"), ["a,b"]),  # unless that is what is needed
        ("raw_title\ncook, days\nnurse\n", {"raw_title"}, Format(";"), ["raw_title"]),
        ("a,b\n1,2,3\n1,2,3\n", {"a", "b"}, COMMAS, ["a", "b"]),  # rows are refused one by one
        ("A;B,c\n1;2,3;;\n1;2,3;;\n", {"a", "b,C"}, Format(";"), ["A", "B,c"]),  # in any case
    ],
)
def test_the_format_by_header_needed_columns_and_rows(text, needed, form, header) -> None:
    assert find_format(lines(text), needed)[:2] == (form, header)


def test_parameters_are_checked() -> None:
    assert [checked_delimiter(name) for name in ("", "\t", "#")] == ["", "\t", "#"]
    for name in ("tab", '"', "\n"):
        with pytest.raises(ValueError, match="is no delimiter; choose one character"):
            checked_delimiter(name)
    assert [checked_encoding(name) for name in ("", "latin-1")] == ["", "latin-1"]
    with pytest.raises(ValueError, match="'utf-9' is no encoding"):
        checked_encoding("utf-9")
