"""Dates and times of feedback, as people, programs and spreadsheets write them, to UTC text.

ISO 8601 (`2026-11-24T13:05+01:00`), `24.11.2026 13:05`, `2026/11/24`, and a spreadsheet's number of
days since 1900 (`46350.5`). `3/4/2026` is ambiguous unless a number above 12, in this row or
another of its file (`slash_order`), shows which one is the day.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

import polars as pl

DAY_FIRST, MONTH_FIRST, UNKNOWN = "day/month", "month/day", ""
BAD_DATE = "judged_at is no date or time: write 2026-11-24 or 2026-11-24T13:05"
DOUBTFUL_DATE = "judged_at may be day/month or month/day: write 2026-11-24"
TIME = r"(?:[ T](?P<hour>\d{1,2}):(?P<minute>\d\d)(?::(?P<second>\d\d))?)?"
WRITTEN = tuple(
    re.compile(date + TIME, re.ASCII)
    for date in (
        r"(?P<day>\d{1,2})\.(?P<month>\d{1,2})\.(?P<year>\d{4})",
        r"(?P<year>\d{4})/(?P<month>\d{1,2})/(?P<day>\d{1,2})",
        r"(?P<one>\d{1,2})/(?P<two>\d{1,2})/(?P<year>\d{4})",
    )
)
SLASHED = r"^(\d{1,2})/(\d{1,2})/\d{4}"
SERIAL = re.compile(r"([2-5]\d{4})(?:[.,](\d+))?", re.ASCII)  # days from 1954 to 2064
SERIAL_ZERO = datetime(1899, 12, 30)


class DoubtfulDate(ValueError):
    """Day and month could be either way round."""


def moment(judged_at: str, order: str = UNKNOWN) -> str:
    """Write a date or time as text of one width in UTC, so that later is greater.

    A date is its midnight; a time without zone is taken as UTC. `order`: of `slash_order`.
    DoubtfulDate, or ValueError if it is no date, or outside the years 1 to 9999 in UTC.
    """
    try:
        parsed = datetime.fromisoformat(judged_at)
    except ValueError:
        parsed = _written(judged_at, order)
    try:
        utc = parsed.astimezone(UTC) if parsed.tzinfo else parsed
    except OverflowError as error:
        raise ValueError(str(error)) from None
    return utc.replace(tzinfo=None).isoformat(timespec="microseconds")


def moments(texts: pl.Series, order: str) -> tuple[dict[str, str], dict[str, str]]:
    """Return the moment of each distinct text that is one, and the reason of each other."""
    read, reasons = {"": ""}, dict[str, str]()
    for text in texts.unique():
        try:
            read[text] = moment(text, order) if text else ""
        except DoubtfulDate:
            reasons[text] = DOUBTFUL_DATE
        except ValueError:
            reasons[text] = BAD_DATE
    return read, reasons


def has_slashes(texts: pl.Series) -> bool:
    """Tell whether any date needs an order."""
    return bool(texts.str.contains(SLASHED).any())


def slash_order(texts: Iterable[pl.Series]) -> str:
    """Tell which number is the day by all dates of a file; `UNKNOWN` if none or both say it."""
    orders = {
        order
        for some in texts
        for group, order in ((1, DAY_FIRST), (2, MONTH_FIRST))
        if (some.str.extract(SLASHED, group).cast(pl.Int8) > 12).any()
    }
    return orders.pop() if len(orders) == 1 else UNKNOWN


def _written(judged_at: str, order: str) -> datetime:
    """Read what is not ISO."""
    if serial := SERIAL.fullmatch(judged_at):
        days = float(f"{serial[1]}.{serial[2] or 0}")
        return SERIAL_ZERO + timedelta(seconds=round(days * 24 * 60 * 60))
    for form in WRITTEN:
        if match := form.fullmatch(judged_at):
            parts = {name: int(text) for name, text in match.groupdict(default="0").items()}
            if "one" in parts:
                one, two = parts.pop("one"), parts.pop("two")
                if one <= 12 and two <= 12 and one != two and order == UNKNOWN:
                    raise DoubtfulDate(f"{one}/{two}")
                month_first = two > 12 or (one <= 12 and order == MONTH_FIRST)
                parts["day"], parts["month"] = (two, one) if month_first else (one, two)
            return datetime(**parts)  # type: ignore[arg-type]  # no time zone among them
    raise ValueError(f"{judged_at!r} is no date")
