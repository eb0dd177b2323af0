"""Dates as they are written, each with the moment that it means."""

import pytest

from tasks.pipeline.feedback.dates import DAY_FIRST, MONTH_FIRST, DoubtfulDate, moment


@pytest.mark.parametrize(
    ("written", "means"),
    [
        ("2026-11-24", "2026-11-24T00:00:00"),
        ("2026-11-24T13:05:10.500Z", "2026-11-24T13:05:10.500"),
        ("2026-11-24T01:05+02:00", "2026-11-23T23:05:00"),
        ("24.11.2026", "2026-11-24T00:00:00"),
        ("4.1.2026 9:05", "2026-01-04T09:05:00"),
        ("24.11.2026 13:05:10", "2026-11-24T13:05:10"),
        ("2026/11/24", "2026-11-24T00:00:00"),
        ("2026/1/4 13:05", "2026-01-04T13:05:00"),
        ("24/11/2026 13:05:10", "2026-11-24T13:05:10"),
        ("11/24/2026", "2026-11-24T00:00:00"),
        ("5/5/2026", "2026-05-05T00:00:00"),
        ("46350", "2026-11-24T00:00:00"),
        ("46350.5", "2026-11-24T12:00:00"),
        ("46350,5451388889", "2026-11-24T13:05:00"),
    ],
)
def test_by_hand(written: str, means: str) -> None:
    """Day 1 of a spreadsheet is 1900-01-01, and its day 60 is 1900-02-29, which never was."""
    assert moment(written).startswith(means)


NO_DATES = ("yesterday", "2026-02-30", "30.2.2026", "13/13/2026", "24.11.26", "0.0.2026")
NO_TIMES = ("1.5", "12345", "60001", "24.11.2026 25:00", "0001-01-01T00:00+05:00", "٢٤.١١.٢٠٢٦")


@pytest.mark.parametrize("written", NO_DATES + NO_TIMES)
def test_what_is_no_date(written: str) -> None:
    with pytest.raises(ValueError) as error:
        moment(written)
    assert not isinstance(error.value, DoubtfulDate)


def test_a_date_that_may_be_either_way_round() -> None:
    for written in ("3/4/2026", "12/1/2026 13:05"):
        with pytest.raises(DoubtfulDate):
            moment(written)
    assert moment("3/4/2026", DAY_FIRST).startswith("2026-04-03")
    assert moment("3/4/2026", MONTH_FIRST).startswith("2026-03-04")
