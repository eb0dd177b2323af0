"""Encodings, line ends and bad bytes."""

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.readers.rejected import Ledger
from tasks.readers.text import decode, is_text, line_rows, physical_lines

ENCODINGS = {
    "utf-8": b"",
    "utf-8-sig": b"",  # Python writes the mark itself
    "utf-16-le": codecs.BOM_UTF16_LE,
    "utf-16-be": codecs.BOM_UTF16_BE,
}
TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00\ufeff"))


@pytest.mark.parametrize("encoding", ENCODINGS)
@given(text=TEXT)
def test_every_encoding_gives_the_text_back(encoding: str, text: str) -> None:
    assert decode(ENCODINGS[encoding] + text.encode(encoding)) == text
    assert is_text(text)


def test_a_bad_byte_spoils_its_line_only() -> None:
    good, bad = decode(b"caf\xc3\xa9\ncaf\xe9").split("\n")
    assert (good, is_text(good), is_text(bad)) == ("café", True, False)


def test_utf_16_faults_are_seen() -> None:
    """Cut a pair in half (D83D), and end a file within a character."""
    for fault in (b"\x3d\xd8", b"a"):
        assert not is_text(decode(codecs.BOM_UTF16_LE + "x".encode("utf-16-le") + fault))
    assert is_text(decode(codecs.BOM_UTF16_LE + "👩‍🍳".encode("utf-16-le")))


def test_nul_is_no_text() -> None:
    assert not is_text("a\x00b")


def test_only_the_three_line_ends_split(tmp_path) -> None:
    path = tmp_path / "lines"
    path.write_bytes("a\r\nb\rc\nd\u2028e\x0bf".encode())
    assert physical_lines(path, "") == ["a\r\n", "b\r", "c\n", "d\u2028e\x0bf"]


def test_lines_are_rows_and_blank_or_bad_ones_are_refused(tmp_path) -> None:
    path = tmp_path / "titles.txt"
    path.write_bytes(b"\xef\xbb\xbf nurse \r\n\r\nbad \xff\r\ncook")
    ledger = Ledger()
    rows = [(row.line, row.values["x"]) for row in line_rows(path, "x", "", ledger)]
    assert rows == [(1, " nurse "), (4, "cook")]
    assert ledger.refused == [
        ("titles.txt", 2, "empty row", ""),
        ("titles.txt", 3, "bytes that are not text", "bad \\udcff"),
    ]
    assert ledger.rows == {"titles.txt": 4}
