"""Titles that are read together: cleaned, hashed and split into words once, by compiled loops.

Where the loops are not at hand, titles are read one by one, with the same result.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, overload

import numpy as np

from models.normalizer.loops.characters import (
    IS_ALNUM,
    IS_MARK,
    IS_SIGN,
    Characters,
    characters_of,
    classes_for,
)
from models.normalizer.loops.cleaning import cleaned_for
from models.normalizer.loops.words import Words
from models.normalizer.text_kernels import text_kernels, text_kernels_at_hand, words_in
from models.search.title_places import HashedTitles, hashes_of
from models.text.titles import clean_title, normalize_title

if TYPE_CHECKING:
    from jaxtyping import Bool, Int64, UInt64


@dataclass(frozen=True, eq=False)
class TitleLot(HashedTitles):
    """Cleaned titles; it needs the loops.

    Attributes:
        titles: as strings.
        characters: of all of them.
    """

    titles: list[str]
    characters: Characters

    @classmethod
    def of(cls, titles: Sequence[str]) -> TitleLot:
        """Take in cleaned titles."""
        if isinstance(titles, TitleLot):
            return titles
        return cls([*titles], characters_of(titles))

    def __len__(self) -> int:
        return len(self.titles)

    def __iter__(self) -> Iterator[str]:
        return iter(self.titles)

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: int | slice) -> str | list[str]:
        """Return one title, or those of a slice."""
        return self.titles[place]

    def with_titles(self, changed: Mapping[int, str]) -> TitleLot:
        """Return the lot with other titles in some rows."""
        if not changed:
            return self
        titles = [*self.titles]
        for row, title in changed.items():
            titles[row] = title
        return TitleLot.of(titles)

    def have_any(self, points: Bool[np.ndarray, " point"]) -> Bool[np.ndarray, " title"]:
        """Say which titles have one of some characters."""
        count = np.append(0, np.cumsum(points[self.characters.points]))
        any_point: Bool[np.ndarray, " title"] = np.diff(count[self.characters.ends]) > 0
        return any_point

    @cached_property
    def words(self) -> Words:
        """The words of the titles."""
        return words_in(self.characters)

    @property
    def most_unit_words(self) -> Int64[np.ndarray, " title"]:
        """How many words of a featurizer each title has, or more where full stops join some."""
        points, ends = self.characters
        inside = classes_for(points)[points] & (IS_ALNUM | IS_MARK | IS_SIGN) != 0
        before = np.append(False, inside[:-1])
        before[ends[:-1][np.diff(ends) > 0]] = False
        return np.diff(np.append(0, np.cumsum(inside & ~before))[ends])

    @cached_property
    def hashes(self) -> UInt64[np.ndarray, " title"]:
        """A hash of each title."""
        made = np.empty(len(self), np.uint64)
        text_kernels().hash_cleaned(self.characters, made)
        return made

    @cached_property
    def normalized_hashes(self) -> UInt64[np.ndarray, " title"]:
        """A hash of each title, normalized."""
        points = self.characters.points
        made, are_plain = np.empty(len(self), np.uint64), np.empty(len(self), bool)
        cleaned, classes = cleaned_for(points), classes_for.known
        kernel = text_kernels().hash_normalized
        kernel(self.characters, cleaned, classes, made, are_plain)
        rest = np.flatnonzero(~are_plain)
        made[rest] = hashes_of([normalized(self.titles[row]) for row in rest.tolist()])
        return made


def cleaned_titles(texts: Sequence[str]) -> Sequence[str]:
    """Clean raw titles of at most `LONGEST` characters."""
    kernels = text_kernels_at_hand()
    if not kernels:
        return [*map(clean_title, texts)]
    raw = characters_of(texts)
    points, ends = np.empty(len(raw.points), np.uint32), np.empty(len(raw.ends), np.int64)
    are_plain = np.empty(len(texts), bool)
    cleaned = cleaned_for(raw.points)
    kernels.clean_titles(raw, cleaned, classes_for.known, points, ends, are_plain)
    own = Characters(points[: ends[-1]].copy(), ends)
    text = own.points.tobytes().decode("utf-32-le")
    titles = [text[start:end] for start, end in pairwise(ends.tolist())]
    rest = np.flatnonzero(~are_plain).tolist()
    return TitleLot(titles, own).with_titles({row: clean_title(texts[row]) for row in rest})


def normalized(title: str) -> str:
    """Normalize a cleaned title; most are plain, which takes a tenth of the time."""
    return title if title.replace(" ", "").isalnum() else normalize_title(title)
