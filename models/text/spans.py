"""Units as stretches of one long text, and a 64-bit hash of each; numpy only, no loop over them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, NamedTuple
from unicodedata import category

import numpy as np

from models.text.units import UnitSettings

if TYPE_CHECKING:
    from jaxtyping import Bool, Int, UInt64

FACTOR = 0x9E3779B97F4A7C15  # odd, so that it has an inverse modulo 2**64
INVERSE = pow(FACTOR, -1, 2**64)
WORD_SIGNS = "+#&"
"""Part of a word wherever they stand (c++, c#, r&d); a full stop is one before a letter (.net)."""
OTHER, LETTER, SIGN, STOP = range(4)
"""Kinds of characters."""
SHORT_TEXT = 1 << 12
"""Characters of a text that is hashed without powers of its own."""


class Spans(NamedTuple):
    """Where the units of some titles stand in `text`, title after title."""

    text: str
    points: UInt64[np.ndarray, " character"]
    start: Int[np.ndarray, " unit"]
    end: Int[np.ndarray, " unit"]
    row: Int[np.ndarray, " unit"]
    """The title that the unit is of; ascending."""
    truncated: Bool[np.ndarray, " title"]


def spans(titles: Sequence[str], units: UnitSettings) -> Spans:
    """Return the units of cleaned titles."""
    if units.unit == "word":
        return _words(titles, units.max_length)
    if units.unit == "subword":
        return _subwords(_framed(_words(titles, units.max_length)), units.orders)
    kept = [title[: units.max_length] for title in titles]
    truncated = _lengths(titles) > units.max_length
    if units.unit == "ngram":
        kept = [f" {title} " for title in kept]
    text = "".join(kept)
    row = np.repeat(np.arange(len(kept)), _lengths(kept))
    points = code_points(text)
    if units.unit == "character":
        start = np.arange(len(points))
        return Spans(text, points, start, start + 1, row, truncated)
    start, end = _ngrams(row, units.orders)
    return Spans(text, points, start, end, row[start], truncated)


def _ngrams(
    part: Int[np.ndarray, " character"], orders: Sequence[int]
) -> tuple[Int[np.ndarray, " ngram"], Int[np.ndarray, " ngram"]]:
    """Return start and end of the n-grams, part after part; each ends where it began."""
    starts = [np.flatnonzero(part[: max(0, len(part) - n + 1)] == part[n - 1 :]) for n in orders]
    start = np.concatenate(starts)
    wide = np.repeat(orders, [len(start) for start in starts])
    by_part = np.argsort(part[start], kind="stable")
    start = start[by_part]
    return start, start + wide[by_part]


def _subwords(words: Spans, orders: Sequence[int]) -> Spans:
    """Return of framed words: n-grams, words longer than these, and pairs of a title's words."""
    wide = words.end - words.start
    start, end = _ngrams(np.repeat(np.arange(len(wide)), wide), orders)
    inside = words.row[np.searchsorted(words.end, start, side="right")]
    whole = np.flatnonzero(wide > max(orders))
    first = np.flatnonzero(words.row[:-1] == words.row[1:])
    starts = np.concatenate([start, words.start[whole], words.start[first]])
    ends = np.concatenate([end, words.end[whole], words.end[first + 1]])
    row = np.concatenate([inside, words.row[whole], words.row[first]])
    by_title = np.argsort(row, kind="stable")
    return words._replace(start=starts[by_title], end=ends[by_title], row=row[by_title])


def _framed(words: Spans) -> Spans:
    """Put each word between two spaces and leave out what stands between words."""
    wide = words.end - words.start + 2
    end = np.cumsum(wide)
    start = end - wide
    points = words.points[np.arange(wide.sum()) + np.repeat(words.start - 1 - start, wide)]
    points[start] = points[end - 1] = ord(" ")
    text = points.astype(np.uint32).tobytes().decode("utf-32-le", "surrogatepass")
    return Spans(text, points, start, end, words.row, words.truncated)


def segment_hashes(
    points: UInt64[np.ndarray, " character"],
    start: Int[np.ndarray, " unit"],
    end: Int[np.ndarray, " unit"],
) -> UInt64[np.ndarray, " unit"]:
    """A hash of the characters of each stretch; equal stretches have equal ones, wherever they are.

    A polynomial in `FACTOR` modulo 2**64 over scrambled code points: the sums up to each place,
    taken once, give every stretch as a difference, shifted back to the power 0.
    """
    count = len(points)
    powers, back = _short_powers() if count < SHORT_TEXT else _powers(count)
    sums = np.zeros(count + 1, np.uint64)
    np.cumsum(_scrambled(points) * powers[:count], out=sums[1:])
    stretch = sums[end] - sums[start]
    return _scrambled(stretch * back[start] if count else stretch)


def _powers(count: int) -> list[UInt64[np.ndarray, " place"]]:
    """Return the powers of `FACTOR`, and of `INVERSE`, from the first on."""
    return [np.cumprod(np.full(count, base, np.uint64)) for base in (FACTOR, INVERSE)]


@cache
def _short_powers() -> list[UInt64[np.ndarray, " place"]]:
    return _powers(SHORT_TEXT)


def code_points(text: str) -> UInt64[np.ndarray, " character"]:
    """Return one number a character."""
    # surrogatepass: a lone surrogate in scraped text is an unknown character, not an error
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32).astype(np.uint64)


def _words(titles: Sequence[str], most: int) -> Spans:
    """Runs of letters, digits, marks and `WORD_SIGNS`; the first `most` of each title."""
    text = "".join(f"{title} " for title in titles)
    points = code_points(text)
    kinds = np.frombuffer(text.translate(_KINDS).encode("ascii"), np.uint8)
    inside = np.zeros(len(kinds) + 1, bool)
    inside[1:] = (kinds == LETTER) | (kinds == SIGN)
    inside[1:-1] |= (kinds[:-1] == STOP) & (kinds[1:] == LETTER)
    edges = np.flatnonzero(inside[1:] != inside[:-1])  # a space ends the text
    start, end = edges[::2], edges[1::2]
    ends = np.cumsum(_lengths(titles) + 1)
    row = np.searchsorted(ends, start, side="right")
    counts = np.bincount(row, minlength=len(titles))
    truncated = counts > most
    if truncated.any():
        kept = np.arange(len(row)) - np.repeat(np.cumsum(counts) - counts, counts) < most
        start, end, row = start[kept], end[kept], row[kept]
    return Spans(text, points, start, end, row, truncated)


class _Kinds(dict[int, int]):
    """Kinds of characters, by their code points."""

    def __missing__(self, point: int) -> int:
        one = chr(point)
        is_letter = one.isalnum() or category(one)[0] == "M"
        kind = LETTER if is_letter else SIGN if one in WORD_SIGNS else STOP if one == "." else OTHER
        self[point] = kind
        return kind


_KINDS = _Kinds()


def _lengths(titles: Sequence[str]) -> Int[np.ndarray, " title"]:
    return np.fromiter(map(len, titles), np.int64, len(titles))


def _scrambled(values: UInt64[np.ndarray, " value"]) -> UInt64[np.ndarray, " value"]:
    """SplitMix64's finalizer (Steele et al. 2014): every bit depends on every other."""
    mixed = values + np.uint64(FACTOR)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))
