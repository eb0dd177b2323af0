"""The units of a string that an encoder reads: stretches of one long text, with a 64-bit hash each.

A unit is a character, an n-gram, a word, or a subword. Nothing here loops over units in Python.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal, NamedTuple
from unicodedata import category

import numpy as np

if TYPE_CHECKING:
    from jaxtyping import Bool, Int, UInt8, UInt64


@dataclass(frozen=True)
class UnitSettings:
    """Units of a cleaned title, and which of them get an id of their own.

    Ids: 0 is padding, 1 a unit outside the vocabulary (characters and words; n-grams and subwords
    outside it are left out), 2 and up the vocabulary.
    """

    unit: Literal["character", "ngram", "word", "subword"]
    """`subword`: n-grams inside of words, whole words, and pairs of neighbouring words (Bojanowski
    et al. 2017 have the first two)."""
    max_length: int
    """Characters read of a title (words, if the unit is made of words); the rest is cut and
    flagged."""
    orders: tuple[int, ...] = ()
    """Lengths of the n-grams, in characters, a space before and after the title included; of
    subwords a space before and after each word."""
    min_count: int = 1
    """Occurrences in the training titles from which on a unit is in the vocabulary (C)."""
    most: int = 0  # most frequent units of each order that are kept; 0 keeps all
    buckets: int = 0  # above 0 there is no vocabulary: a unit's id is its hash modulo this many


FACTOR = 0x9E3779B97F4A7C15  # odd, so that it has an inverse modulo 2**64
INVERSE = pow(FACTOR, -1, 2**64)
WORD_SIGNS = "+#&"
"""Part of a word wherever they stand (c++, c#, r&d); a full stop is one before a letter (.net)."""
OTHER, LETTER, SIGN, STOP = range(1, 5)  # kinds of characters
SHORT_TEXT = 1 << 12  # characters of a text that is hashed without powers of its own


class Spans(NamedTuple):
    """Where the units of some titles stand in `text`, title after title."""

    text: str
    points: UInt64[np.ndarray, " character"]
    start: Int[np.ndarray, " unit"]
    end: Int[np.ndarray, " unit"]
    row: Int[np.ndarray, " unit"]  # the title that the unit is of; ascending
    truncated: Bool[np.ndarray, " title"]


def spans(titles: Sequence[str], units: UnitSettings) -> Spans:
    """Return the units of cleaned titles."""
    if units.unit == "word":
        return _words(titles, units.max_length)
    kept = [title[: units.max_length] for title in titles]
    truncated = _lengths(titles) > units.max_length
    if units.unit == "ngram":
        kept = [f" {title} " for title in kept]
    text = "".join(kept)
    row = np.arange(len(kept)).repeat(_lengths(kept))
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
    starts = [(part[: max(0, len(part) - n + 1)] == part[n - 1 :]).nonzero()[0] for n in orders]
    start = np.concatenate(starts)
    wide = np.repeat(orders, [len(start) for start in starts])
    by_part = part[start].argsort(kind="stable")
    start = start[by_part]
    return start, start + wide[by_part]


class Subwords(NamedTuple):
    """The subwords of the distinct words of some titles, and of distinct pairs of neighbours.

    A *group* of subwords is the n-grams inside of a word, a word longer than these, or a pair.
    """

    text: str
    points: UInt64[np.ndarray, " character"]
    start: Int[np.ndarray, " unit"]
    end: Int[np.ndarray, " unit"]
    group: Int[np.ndarray, " unit"]  # ascending
    row: Int[np.ndarray, " mention"]  # the titles of the groups, ascending
    mentions: Int[np.ndarray, " mention"]
    """The groups of each title: the n-grams of its words, its long words, its pairs."""
    groups: int
    truncated: Bool[np.ndarray, " title"]


def subwords(titles: Sequence[str], units: UnitSettings) -> Subwords:
    """Return the subwords of cleaned titles; a word that many titles have is read once."""
    words = _words(titles, units.max_length)
    hashes = segment_hashes(words.points, words.start, words.end)
    _, first, word = np.unique(hashes, return_index=True, return_inverse=True)
    count = len(first)
    left = (words.row[:-1] == words.row[1:]).nonzero()[0]
    keys = word[left] * count + word[left + 1]
    pairs, pair = np.unique(keys, return_inverse=True)
    both = np.stack(np.divmod(pairs, max(count, 1)), axis=1).reshape(-1)
    text, points, start, end = _framed(words, first[np.concatenate([np.arange(count), both])])
    wide = (end - start)[:count]
    begins, stops = _ngrams(np.arange(count).repeat(wide), units.orders)
    inside = end[:count].searchsorted(begins, side="right")
    long = (wide > max(units.orders)).nonzero()[0]
    row = np.concatenate([words.row, words.row, words.row[left]])
    mentions = np.concatenate([word, count + word, 2 * count + pair])
    order = row.argsort(kind="stable")
    return Subwords(
        text,
        points,
        np.concatenate([begins, start[long], start[count::2]]),
        np.concatenate([stops, end[long], end[count + 1 :: 2]]),
        np.concatenate([inside, count + long, 2 * count + np.arange(len(pairs))]),
        row[order],
        mentions[order],
        2 * count + len(pairs),
        words.truncated,
    )


def _framed(
    words: Spans, chosen: Int[np.ndarray, " word"]
) -> tuple[str, np.ndarray, np.ndarray, np.ndarray]:
    """Return text, points, starts and ends of some words, each between two spaces."""
    wide = words.end[chosen] - words.start[chosen] + 2
    end = wide.cumsum()
    start = end - wide
    points = words.points[np.arange(wide.sum()) + (words.start[chosen] - 1 - start).repeat(wide)]
    points[start] = points[end - 1] = ord(" ")
    text = points.astype(np.uint32).tobytes().decode("utf-32-le", "surrogatepass")
    return text, points, start, end


def segment_hashes(
    points: UInt64[np.ndarray, " character"],
    start: Int[np.ndarray, " unit"],
    end: Int[np.ndarray, " unit"],
) -> UInt64[np.ndarray, " unit"]:
    """A hash of the characters of each stretch; equal stretches have equal ones, wherever they are.

    A polynomial in `FACTOR` modulo 2**64 over scrambled code points: the sums up to each position,
    taken once, give every stretch as a difference, shifted back to the power 0.
    """
    count = len(points)
    powers, back = _short_powers() if count < SHORT_TEXT else _powers(count)
    sums = np.zeros(count + 1, np.uint64)
    (_scrambled(points) * powers[:count]).cumsum(out=sums[1:])
    stretch = sums[end] - sums[start]
    return _scrambled(stretch * back[start] if count else stretch)


def _powers(count: int) -> list[UInt64[np.ndarray, " position"]]:
    """Return the powers of `FACTOR`, and of `INVERSE`, from the first on."""
    return [np.cumprod(np.full(count, base, np.uint64)) for base in (FACTOR, INVERSE)]


@cache
def _short_powers() -> list[UInt64[np.ndarray, " position"]]:
    return _powers(SHORT_TEXT)


def code_points(text: str) -> UInt64[np.ndarray, " character"]:
    """Return one number a character."""
    # surrogatepass: a lone surrogate in scraped text is an unknown character, not an error
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32).astype(np.uint64)


def _words(titles: Sequence[str], most: int) -> Spans:
    """Runs of letters, digits, marks and `WORD_SIGNS`; the first `most` of each title."""
    text = "".join(f"{title} " for title in titles)
    points = code_points(text)
    kinds = _kinds(points)
    inside = np.zeros(len(kinds) + 1, bool)
    inside[1:] = (kinds == LETTER) | (kinds == SIGN)
    inside[1:-1] |= (kinds[:-1] == STOP) & (kinds[1:] == LETTER)
    edges = (inside[1:] != inside[:-1]).nonzero()[0]  # a space ends the text
    start, end = edges[::2], edges[1::2]
    ends = (_lengths(titles) + 1).cumsum()
    row = ends.searchsorted(start, side="right")
    counts = np.bincount(row, minlength=len(titles))
    truncated = counts > most
    if truncated.any():
        kept = np.arange(len(row)) - (counts.cumsum() - counts).repeat(counts) < most
        start, end, row = start[kept], end[kept], row[kept]
    return Spans(text, points, start, end, row, truncated)


_KINDS: UInt8[np.ndarray, " point"] = np.zeros(0x110000, np.uint8)
"""Kinds of characters by their code points; 0 of those that no text had so far."""


def _kinds(points: UInt64[np.ndarray, " character"]) -> UInt8[np.ndarray, " character"]:
    """Return the kind of each character."""
    for point in np.unique(points[_KINDS[points] == 0]).tolist():
        one = chr(point)
        is_letter = one.isalnum() or category(one)[0] == "M"
        other = SIGN if one in WORD_SIGNS else STOP if one == "." else OTHER
        _KINDS[point] = LETTER if is_letter else other
    kinds: UInt8[np.ndarray, " character"] = _KINDS[points]
    return kinds


def _lengths(titles: Sequence[str]) -> Int[np.ndarray, " title"]:
    return np.fromiter(map(len, titles), np.int64, len(titles))


def _scrambled(values: UInt64[np.ndarray, " value"]) -> UInt64[np.ndarray, " value"]:
    """SplitMix64's finalizer (Steele et al. 2014): every bit depends on every other."""
    mixed = values + np.uint64(FACTOR)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))
