"""The words of texts, each distinct word once, and how often the titles of a taxonomy have them."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, count
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

from models.text.titles import joined

if TYPE_CHECKING:
    from jaxtyping import Bool, Int64, UInt32

PARTS = re.compile(r"[,(/|:;)\[\]–]|-\s|\s-")
"""Separators of a title's parts: commas, brackets, dashes beside a space."""
WORDS = re.compile(r"[^\W_]++(?:[+#'&]++[^\W_]*+)*+")


@dataclass(frozen=True, eq=False)
class Words:
    """The words of some texts.

    Attributes:
        names: distinct words.
        codes: position in `names` of each word, text after text.
        starts: where the words of each text begin in `codes`; one more at the end.
    """

    names: list[str]
    codes: Int64[np.ndarray, " word"]
    starts: Int64[np.ndarray, " text+1"]

    @classmethod
    def of(cls, texts: Sequence[str], pattern: re.Pattern[str] = WORDS) -> tuple[Self, Gaps]:
        """Find the words of texts, and what stands between them.

        `pattern` says what a word is; it has no groups, and matches no line break.
        """
        found = re.split(f"({pattern.pattern})", f"{joined(texts)}\n")
        names, codes = _numbered(found[1::2])
        gaps = Gaps(*_numbered(found[::2]))
        rows = gaps.of_each([gap.count("\n") for gap in gaps.names]).cumsum()[:-1]
        return cls(names, codes, rows.searchsorted(np.arange(len(texts) + 1))), gaps

    def followed_by(self, texts: Sequence[Sequence[str]]) -> Self:
        """Return these words, and behind them the words of more texts."""
        numbers = defaultdict(count(len(self.names)).__next__, zip(self.names, count()))
        codes = np.fromiter(map(numbers.__getitem__, chain(*texts)), np.int64)
        ends = self.starts[-1] + np.cumsum([*map(len, texts)], dtype=np.int64)
        return replace(
            self,
            names=[*numbers],
            codes=np.concatenate([self.codes, codes]),
            starts=np.concatenate([self.starts, ends]),
        )

    def any_of(
        self, are_meant: Sequence[bool] | Bool[np.ndarray, " name"]
    ) -> Bool[np.ndarray, " text"]:
        """Say which texts have one of the distinct words that are meant."""
        return self.count(are_meant) > 0

    def count(
        self, are_meant: Sequence[bool] | Bool[np.ndarray, " name"]
    ) -> Int64[np.ndarray, " text"]:
        """Return how many words of each text are among the distinct words that are meant."""
        meant = np.array(are_meant, bool)[self.codes]
        return np.bincount(self.texts[meant], minlength=len(self.starts) - 1)

    @cached_property
    def texts(self) -> Int64[np.ndarray, " word"]:
        """The text of each word."""
        return np.arange(len(self.starts) - 1).repeat(np.diff(self.starts))

    @cached_property
    def letters(self) -> tuple[UInt32[np.ndarray, " letter"], Int64[np.ndarray, " name+1"]]:
        """The code points of `names`, one behind the other, and where each begins."""
        return letters_of(self.names)


class Gaps(NamedTuple):
    """The text between the words of some texts, each of which ends with a line break.

    Attributes:
        names: distinct gaps.
        codes: position in `names` of the gap before each word, and of that behind the last one.
    """

    names: list[str]
    codes: Int64[np.ndarray, " word+1"]

    def of_each(self, values: Sequence[int]) -> Int64[np.ndarray, " word+1"]:
        """Give the values of distinct gaps to each gap."""
        return np.array(values, np.int64).take(self.codes)


def _numbered(texts: Sequence[str]) -> tuple[list[str], Int64[np.ndarray, " text"]]:
    """Return distinct texts in their order, and the position of each text among them."""
    numbers = defaultdict[str, int](count().__next__)
    codes = np.fromiter(map(numbers.__getitem__, texts), np.int64, len(texts))
    return [*numbers], codes


def letters_of(
    words: Sequence[str],
) -> tuple[UInt32[np.ndarray, " letter"], Int64[np.ndarray, " word+1"]]:
    """Return the code points of words, one behind the other, and where each begins."""
    data = "".join(words).encode("utf-32-le", "surrogatepass")
    begins = np.zeros(len(words) + 1, np.int64)
    np.cumsum([*map(len, words)], out=begins[1:])
    return np.frombuffer(data, np.uint32).copy(), begins  # writable: one type for numba


@dataclass(frozen=True)
class TitleWords:
    """The words of distinct cleaned titles.

    Attributes:
        counts: how many titles have a word, wherever it stands.
        endings: how many have a first part that ends with it; of others none.
        beginnings: how many have a first part that begins with it and has more; of others none.
    """

    counts: Mapping[str, int]
    endings: Mapping[str, int]
    beginnings: Mapping[str, int]

    @classmethod
    def of(cls, titles: Iterable[str]) -> Self:
        """Count the words of cleaned titles, each title once."""
        distinct = set(titles)
        words = [WORDS.findall(title) for title in distinct]
        firsts = [
            next(iter(parts_of(title)), []) if PARTS.search(title) else own
            for title, own in zip(distinct, words, strict=True)
        ]
        return cls(
            dict(Counter(chain.from_iterable(map(set, words)))),
            dict(Counter(part[-1] for part in firsts if part)),
            dict(Counter(part[0] for part in firsts if len(part) > 1)),
        )


def parts_of(title: str) -> list[list[str]]:
    """Return the words of each part of a title that has any."""
    return [words for part in PARTS.split(title) if (words := WORDS.findall(part))]


def forms_of(label: str) -> list[str]:
    """Return the forms of a label for each gender, folded: "Koch/Köchin" has two."""
    return [form for part in label.casefold().split("/") if (form := part.strip())]
