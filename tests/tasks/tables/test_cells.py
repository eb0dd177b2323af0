"""Typed cells become the text that a person would have typed."""

from datetime import date, datetime, time

import pytest

from tasks.tables.cells import cell_text, csv_line, whole_number


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""),
        (" nurse ", " nurse "),
        (2231.0, "2231"),
        (2231, "2231"),
        (0.5, "0.5"),
        (1e300, "1e+300"),
        (float("nan"), "nan"),
        (True, "true"),
        (["é", 1], '["é", 1]'),
        (date(2026, 11, 24), "2026-11-24"),
        (datetime(2026, 11, 24, 13, 5), "2026-11-24 13:05:00"),
        (time(13, 5), "13:05:00"),
    ],
)
def test_values_as_text(value: object, text: str) -> None:
    assert cell_text(value) == text


def test_whole_numbers_lose_their_fraction_and_nothing_else_changes() -> None:
    assert [whole_number(text) for text in ("2231.0", "-7.00", "0123.0")] == ["2231", "-7", "0123"]
    for text in ("11-1011.00", "2231.5", "1.0.0", "x.0", ""):
        assert whole_number(text) == text


def test_a_row_as_the_csv_module_writes_it() -> None:
    assert csv_line(["a", 'b"c', "d,e", ""]) == 'a,"b""c","d,e",'
