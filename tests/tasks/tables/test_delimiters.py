"""Which character stands between fields, whatever else the titles hold."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.tables.delimiters import NAMES, checked_delimiter, checked_encoding, find_format
from tasks.tables.records import Format

FIELD = st.text("ab ,;|\t\"'", min_size=1, max_size=8)


def lines(text: str) -> list[str]:
    return list(io.StringIO(text, newline=""))


@pytest.mark.thorough
@given(
    delimiter=st.sampled_from(list(NAMES)),
    rows=st.lists(st.tuples(FIELD, FIELD, FIELD), max_size=8),
)
def test_it_is_found_whatever_the_fields_hold(delimiter: str, rows: list[tuple[str, ...]]) -> None:
    """Quote as the csv module does, then know the columns, as every reader does."""
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=delimiter).writerows([("one", "two", "three"), *rows])
    found = find_format(lines(text.getvalue()), {"three", "one"})
    assert found == (Format(delimiter), ["one", "two", "three"], 1.0, 0, 1.0)


@pytest.mark.parametrize(
    ("text", "delimiter"),
    [
        ("a;b\n1;x, y\n2;z\n", ";"),
        ("a;b\n1,5;x\n2,5;z\n", ";"),  # a comma in each row, and none in the header
        ("a, as written;b\n1;x\n2;y\n", ";"),
        ("a,b;c\n1,2;3\n4,5;6,\n", ";"),  # in the header and most rows, but not as constant
        ("a\tb,c\td\n1\t2,3\t4\n", "\t"),  # constant both ways: the wider one
        ("a|b\n1|x;y\n", "|"),
        ("a\n1\n", ","),
        ("", ","),
        ("a,b\n", ","),
    ],
)
def test_without_known_columns(text: str, delimiter: str) -> None:
    assert find_format(lines(text)).form.delimiter == delimiter


def test_empty_last_fields_of_header_or_rows_do_not_count() -> None:
    for text in ("a,b,,\n1,2\n3,4\n", "a,b\n1,2,,\n3,4,,\n"):
        assert find_format(lines(text)).fitting == 1.0
    assert find_format(lines("a,b\n1,2,3\n")).fitting == 0.0


def test_a_header_that_a_delimiter_splits_is_no_single_column() -> None:
    """Unless that is what is needed; a backslash before quotes is tried as well."""
    text = 'a,b\n1,"x \\"y\\""\n2,z\n'
    assert find_format(lines(text))[:3] == (Format(",", backslash=True), ["a", "b"], 1.0)
    assert find_format(lines("a,b\nx\ny\n")).header == ["a", "b"]
    assert find_format(lines("a,b\nx\ny\n"), ["a,b"]).header == ["a,b"]


def test_one_column_with_commas_is_one_column() -> None:
    found = find_format(lines("raw_title\ncook, days\nnurse\n"), {"raw_title"})
    assert (found.header, found.constancy) == (["raw_title"], 1.0)


def test_known_columns_come_before_constancy() -> None:
    """Broken rows are refused one by one later; they do not make it another file."""
    found = find_format(lines("a,b\n1,2,3\n1,2,3\n"), {"a", "b"})
    assert (found.form.delimiter, found.constancy) == (",", 0.0)


def test_known_columns_are_known_in_any_case() -> None:
    """By its rows it would have commas."""
    found = find_format(lines("A;B,c\n1;2,3;;\n1;2,3;;\n"), {"a", "b,C"})
    assert (found.form.delimiter, found.header) == (";", ["A", "B,c"])


def test_parameters_are_checked() -> None:
    assert [checked_delimiter(name) for name in ("", "\t", "#")] == ["", "\t", "#"]
    for name in ("tab", '"', "\n"):
        with pytest.raises(ValueError, match="is no delimiter; choose one character"):
            checked_delimiter(name)
    assert [checked_encoding(name) for name in ("", "latin-1")] == ["", "latin-1"]
    with pytest.raises(ValueError, match="'utf-9' is no encoding"):
        checked_encoding("utf-9")
