"""Occupations, titles and groups as they are read, and the three frames they become.

A title is kept as received, without white space around it. Two titles of one occupation are the
same when they are equal *cleaned* (`models.text.titles.clean_title`); the first one is kept, the
label before all others.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from models.text.titles import KEPT_PUNCTUATION, clean_title, normalize_title
from tasks.io.schemas import ALIASES, GROUPS, OCCUPATIONS
from tasks.tables.rejected import (
    DUPLICATE_OCCUPATION,
    DUPLICATE_TITLE,
    UNKNOWN_OCCUPATION,
    RejectedRows,
    Row,
    empty,
)


class Taxonomy:
    """A taxonomy in the making: a reader adds an occupation first, then its titles."""

    def __init__(self, rejected: RejectedRows) -> None:
        self.rejected = rejected
        self.codes: dict[str, list[str]] = {}
        self.groups: dict[str, str] = {}  # code of the hierarchy -> its label, if a reader knows it
        self.titles: dict[str, dict[str, str]] = {}  # cleaned -> as received; the label is first

    def add_occupation(
        self, row: Row, occupation_id: str, label: str, codes: Sequence[str]
    ) -> bool:
        """Take an occupation, with its label as first title; False if `row` was refused."""
        reason = _empty(occupation_id, label, "occupation_label")
        if not reason and occupation_id in self.titles:
            reason = DUPLICATE_OCCUPATION
        if reason:
            self.rejected.refuse(row, reason)
            return False
        self.codes[occupation_id] = list(codes)
        self.titles[occupation_id] = {clean_title(label): label}
        return True

    def add_title(self, row: Row, occupation_id: str, title: str) -> None:
        """Take one more title of an occupation that is known already, or refuse `row`."""
        reason = _empty(occupation_id, title, "title")
        if not reason and occupation_id not in self.titles:
            reason = UNKNOWN_OCCUPATION
        if not reason and clean_title(title) in self.titles[occupation_id]:
            reason = DUPLICATE_TITLE
        if reason:
            self.rejected.refuse(row, reason)
        else:
            self.titles[occupation_id][clean_title(title)] = title

    def label(self, occupation_id: str) -> str:
        """Return the preferred title."""
        return next(iter(self.titles[occupation_id].values()))

    def occupations(self) -> pl.DataFrame:
        """Return columns of `OCCUPATIONS`, sorted by id."""
        rows = [(name, self.label(name), self.codes[name]) for name in sorted(self.titles)]
        return pl.DataFrame(rows, schema=OCCUPATIONS, orient="row")

    def labelled_groups(self) -> pl.DataFrame:
        """Return columns of `GROUPS`, sorted by code: those in use that have a label."""
        codes = sorted({code for above in self.codes.values() for code in above})
        rows = [(code, label) for code in codes if (label := self.groups.get(code))]
        return pl.DataFrame(rows, schema=GROUPS, orient="row")

    def aliases(self) -> pl.DataFrame:
        """Return columns of `ALIASES`; in each occupation the label first, then by title."""
        rows = [
            (occupation_id, title, place == 0)
            for occupation_id, titles in self.titles.items()
            for place, title in enumerate(titles.values())
        ]
        frame = pl.DataFrame(rows, schema=ALIASES, orient="row")
        return frame.sort("occupation_id", ~pl.col("preferred"), "title")


def _empty(occupation_id: str, title: str, name: str) -> str:
    """Name the reason if one of them holds nothing; a title of punctuation alone is empty too."""
    if not occupation_id:
        return empty("occupation_id")
    left = normalize_title(title).strip(" " + "".join(KEPT_PUNCTUATION))
    return "" if left else empty(name)
