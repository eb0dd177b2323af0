"""Strict CSV: line numbers, faults that stay local, and what a file must have."""

import csv
import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.readers.csv_rows import BARE_TABS, COMMAS, csv_rows, records
from tasks.readers.outside import IngestError
from tasks.readers.rejected import Ledger

FIELD = st.text(st.characters(exclude_categories=["Cs"]), max_size=12) | st.sampled_from(
    ['"', '""', "a\nb", "a\r\nb", "\r", ",", "🧑‍🚀", " ", ""]
)
ROWS = st.lists(st.lists(FIELD, min_size=2, max_size=3), min_size=1, max_size=6)


def read(path: Path, content: bytes, columns: str = "a b", **more):
    """Return rows as (line, values) and refused ones as (line, reason, text)."""
    path.write_bytes(content)
    ledger = Ledger()
    rows = list(csv_rows(path, {n: n for n in columns.split()}, "From us.", ledger, **more))
    taken = [(row.line, *row.values.values()) for row in rows]
    return taken, [refused[1:] for refused in ledger.refused], ledger


@given(rows=ROWS)
def test_any_text_survives_quoting(rows: list[list[str]]) -> None:
    """Make a round trip; the oracle counts the text's line breaks before a record for its start."""
    lines, starts = [], []
    for row in rows:
        text = io.StringIO(newline="")
        csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\r\n").writerow(row)
        starts.append(1 + len(lines))
        lines += list(io.StringIO(text.getvalue(), newline=""))
    split = list(records(lines, COMMAS))
    assert [fields for _, _, fields in split] == rows
    assert [line for line, _, _ in split] == starts


@given(text=st.text('ab,"\n', max_size=40))
def test_no_line_is_lost_whatever_the_quotes(text: str) -> None:
    """Cover every physical line once and in order by records, refused ones included."""
    lines = list(io.StringIO(text, newline=""))
    split = list(records(lines, COMMAS))
    starts = [start for start, _, _ in split] + [len(lines) + 1]
    assert starts[0] == 1
    for (start, record, _), end in zip(split, starts[1:], strict=True):
        assert record == "".join(lines[start - 1 : end - 1]).rstrip("\n")


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
    """Put good rows before and after it, one of them with quotes of its own."""
    taken, refused, ledger = read(tmp_path / "f", b"a,b\n1,x\n" + bad + b'\n2,"y\nz"\n4,"w"\n')
    assert taken == [(2, "1", "x"), (4, "2", "y\nz"), (6, "4", "w")]
    shown = bad.decode("utf-8", "surrogateescape").encode("utf-8", "backslashreplace").decode()
    assert refused == [(3, reason, shown)]
    assert ledger.rows == {"f": 4}


def test_an_unclosed_quote_at_the_end_keeps_the_rows_after_it(tmp_path) -> None:
    taken, refused, _ = read(tmp_path / "f", b'a,b\n1,"x\n2,y\n3,z\n')
    assert taken == [(3, "2", "y"), (4, "3", "z")]
    assert refused == [(2, "broken quotes", '1,"x')]


def test_a_field_past_the_limit_is_refused_alone(tmp_path) -> None:
    taken, refused, _ = read(tmp_path / "f", b"a,b\n1," + b"x" * 200_000 + b"\n2,y\n")
    assert taken == [(3, "2", "y")]
    assert [(line, reason) for line, reason, _ in refused] == [(2, "broken quotes")]


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
    taken, refused, _ = read(tmp_path / "f", b'a\tb\n1\t"x\n2\ty"z\n', dialect=BARE_TABS)
    assert taken == [(2, "1", '"x'), (3, "2", 'y"z')]
    assert refused == []


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
        list(csv_rows(tmp_path / "absent.csv", {"a": "a"}, "From us.", Ledger()))
