"""Figures in sentences, read from the results, and what sentences claim, held against them.

In the text of a study `[[DATASET; SYSTEM; TEST; METRIC]]` stands for a figure, the mean over seeds
where there is one; `; SEED` behind it names one seed's, `STUDY: ` before it another study's. Behind
` | ` a word says what of it: `ends` its interval, `low` or `high` an end, `size` its value without
sign, `percent`, `n`. A difference is `[[A - B]]` of two such places. `{0.71}` is a number of
others, which no result holds.

A claim of `study.yaml` is two places, or a place and a number, with ` > ` between them. One that
does not hold is an error, so that no page says what its figures do not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from benchmarks.pages.page_tables import over_seeds
from benchmarks.pages.tables import figure, is_figure, where
from benchmarks.results import Line, Results

PLACE = re.compile(r"\[\[(.+?)\]\]", re.DOTALL)
OTHERS = re.compile(r"\{([^{}]+)\}")
MISSING = "(not measured)"
COLUMNS = ("dataset", "system", "test", "metric", "seed")
MINUS = "−"


def said(text: str, study: str, results: Results) -> str:
    """Return a text with its figures; one that no result holds reads `MISSING`.

    Raises:
        ValueError: a place names no column, or several figures.
    """
    return OTHERS.sub(r"\1", PLACE.sub(lambda at: _words(at[1], study, results), text))


def check(claims: Iterable[str], study: str, results: Results) -> None:
    """Hold claims against the results.

    Raises:
        ValueError: one does not hold, or names what has not been measured.
    """
    for claim in claims:
        more, less = (_number(side, study, results) for side in claim.split(" > "))
        if more is None or less is None:
            raise ValueError(f"{study}: {claim!r} names what has not been measured")
        if not more > less:
            raise ValueError(f"{study}: {claim!r} does not hold: {more:g}, {less:g}")


def _words(place: str, study: str, results: Results) -> str:
    place, _, what = " ".join(place.split()).partition(" | ")
    if " - " in place:
        return _signed(_number(place, study, results))
    row = _row(place, study, results)
    if row is None:
        return MISSING
    if not is_figure(row):
        return figure(row)
    if what == "ends":
        return "[{}, {}]".format(*(_short(row, end) for end in ("low", "high")))
    if what in ("low", "high"):
        return _short(row, what)
    if what == "size":
        return _short(row, "value").removeprefix(MINUS)
    if what == "n":
        return f"{int(row['n']):,}"
    if what == "percent":
        return f"{100 * float(row['value']):.1f} %"
    if what:
        raise ValueError(f"{study}: [[{place} | {what}]] names no part of a figure")
    return _short(row, "value")


def _number(side: str, study: str, results: Results) -> float | None:
    try:
        return float(side)
    except ValueError:
        pass
    place, _, what = side.partition(" | ")
    if " - " in place:
        first, second = (_number(part, study, results) for part in place.split(" - "))
        return None if first is None or second is None else first - second
    row = _row(place, study, results)
    return None if row is None else float(row[what or "value"])


def _row(place: str, study: str, results: Results) -> Line | None:
    named, _, own = place.rpartition(": ")
    values = [value.strip() for value in own.split(";")]
    if len(values) not in (len(COLUMNS) - 1, len(COLUMNS)):
        raise ValueError(f"{study}: [[{place}]] needs {'; '.join(COLUMNS[:-1])}, or a seed besides")
    found = over_seeds(where(results[named or study], **dict(zip(COLUMNS, values, strict=False))))
    if len(found) > 1:
        raise ValueError(f"{study}: [[{place}]] are {len(found)} figures: name a mean")
    return found[0] if found else None


def _short(row: Line, part: str) -> str:
    ends = {"low": "", "high": ""}
    return figure({**row, **ends, "value": row[part]}).replace("-", MINUS)


def _signed(value: float | None) -> str:
    return MISSING if value is None else f"{value:.3f}".replace("-", MINUS)
