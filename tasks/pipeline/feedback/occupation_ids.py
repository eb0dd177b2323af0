"""Ids of occupations, also where a spreadsheet took them for numbers.

A spreadsheet writes `123` for `0123`, other programs `123.0`. If exactly one id of the taxonomy is
`123` but for zeros in front, that one is meant. `1,234` and `1.2E+03` are refused with a reason of
their own, because several ids may become the same number. An id in another case is known too, and a
label instead of it that a single occupation has.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

import polars as pl

from tasks.tables.rejected import UNKNOWN_OCCUPATION
from tasks.tables.typed_tables import whole_number

REWRITTEN_ID = (
    "unknown occupation: a spreadsheet may have rewritten its id (1234 as 1,234 or 1.2E+03); "
    "format the column as text and enter the id anew"
)
NUMBER = re.compile(r"(\d{1,3}(?:[.,' \xa0\u202f]\d{3})+|\d+)(?:[.,]0+)?", re.ASCII)
SCIENTIFIC = re.compile(r"\d+(?:[.,]\d+)?E\+?\d+", re.ASCII | re.IGNORECASE)


class Ids(NamedTuple):
    """The id of each distinct text of a column, or the reason why there is none."""

    known: dict[str, str]
    faults: dict[str, str]
    restored: list[str]  # texts that had lost zeros in front


class OccupationIds(NamedTuple):
    """Per occupation: its label, and its titles in the index; all of them cleaned."""

    labels: dict[str, str]
    owned: pl.DataFrame  # `predicted, matched, owned` (true), to be joined
    numbers: dict[str, list[str]]  # ids of digits alone, by what is left without zeros in front
    names: dict[str, set[str]]  # ids by these in any case, and by the labels

    @classmethod
    def of(cls, aliases: pl.DataFrame) -> OccupationIds:
        """Read schema `SPLIT_ALIASES`; the index holds the split `train`, every label among it."""
        labels, train = dict(labels_of(aliases).iter_rows()), aliases.filter(split="train")
        owned = train.select(predicted="occupation_id", matched="cleaned", owned=True).unique()
        numbers, names = defaultdict[str, list[str]](list), defaultdict[str, set[str]](set)
        for name, label in labels.items():
            if name.isascii() and name.isdigit():
                numbers[_without_zeros(name)].append(name)
            names[name.casefold()].add(name)
            names[label.casefold()].add(name)
        return cls(labels, owned, numbers, names)

    def look_up(self, texts: Iterable[str]) -> Ids:
        """Tell of distinct texts which occupations they name; an empty one names none."""
        ids = Ids({}, {}, [])
        for text in texts:
            if text in self.labels:
                ids.known[text] = text
            elif len(meant := self.numbers.get(whole_number(text), [])) == 1:
                ids.known[text] = meant[0]
                ids.restored.append(text)
            elif len(named := self.names.get(text.strip().casefold(), set())) == 1:
                ids.known[text] = next(iter(named))
            elif text:
                ids.faults[text] = REWRITTEN_ID if self._rewritten(text) else UNKNOWN_OCCUPATION
        return ids

    def _rewritten(self, text: str) -> bool:
        """Tell whether a spreadsheet could have made `text` of an id."""
        if SCIENTIFIC.fullmatch(text):
            return bool(self.numbers)
        number = NUMBER.fullmatch(text)
        digits = re.sub(r"\D", "", number[1]) if number else ""
        return bool(digits) and _without_zeros(digits) in self.numbers


def labels_of(aliases: pl.DataFrame) -> pl.DataFrame:
    """Return `occupation_id, label`, cleaned, of schema `SPLIT_ALIASES`: the first language's."""
    labels = aliases.filter("preferred").select("occupation_id", label="cleaned")
    return labels.unique("occupation_id", keep="first", maintain_order=True)


def _without_zeros(digits: str) -> str:
    return digits.lstrip("0") or "0"
