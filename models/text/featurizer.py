"""Titles to integers: for each kind of unit that an encoder reads, one flat list of ids.

A unit is a stretch of the cleaned title: a character, an n-gram (a space before and after the title
included), a word, or a part of one (`models/text/units.py`). Units are found and looked up by a
64-bit hash of their characters, without a Python loop over characters or n-grams; two different
units of one vocabulary get the same hash with a probability below 1e-8, since n of them have n²/2⁶⁵
chances. The model that consumers load contains this module, which needs numpy alone. It takes
cleaned titles (`models/text/titles.py`).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import groupby, islice
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from models.text.texts import Texts
from models.text.units import (
    Spans,
    Subwords,
    UnitSettings,
    code_points,
    segment_hashes,
    spans,
    subwords,
)

if TYPE_CHECKING:
    from jaxtyping import Bool, Int, UInt64

Made = TypeVar("Made")
PADDING, UNKNOWN, FIRST = 0, 1, 2
BLOCK = 8192  # titles featurized at once, so that what is made on the way stays in the cache


class Ids(NamedTuple):
    """The units of a block of titles."""

    flat: Int[np.ndarray, " unit"]  # int64, title after title
    lengths: Int[np.ndarray, " title"]
    """int64, at least 1: a title without a known unit counts as one of padding."""

    def padded(self) -> Int[np.ndarray, "title length"]:
        """Return one row a title, padded with 0 to the longest, one column at least."""
        ids = np.full((len(self.lengths), int(self.lengths.max(initial=1))), PADDING, np.int64)
        ids[np.arange(ids.shape[1]) < self.lengths[:, None]] = self.flat
        return ids


class Features(NamedTuple):
    """A featurized block of titles."""

    streams: tuple[Ids, ...]  # one for each kind of unit that the encoder reads
    truncated: Bool[np.ndarray, " title"]
    """True where a title was longer than the `max_length` of one of them."""


@dataclass(frozen=True)
class Vocabulary:
    """Which units have an id of their own: `known[position]` has the id `FIRST + position`."""

    units: UnitSettings
    known: Sequence[str]  # sorted; empty where ids are hashes (`units.buckets`)

    @classmethod
    def fit(cls, titles: Sequence[str], units: UnitSettings) -> Vocabulary:
        """Choose the units of cleaned titles: by `min_count`, of each order the `most` frequent."""
        if units.buckets:
            return cls(units, ())

        def count(block: Sequence[str]) -> tuple[str, tuple[np.ndarray, ...]]:
            if units.unit == "subword":
                stretches: Spans | Subwords = (read := subwords(block, units))
                times = np.bincount(read.mentions, minlength=read.groups)[read.group]
            else:
                stretches = spans(block, units)
                times = np.ones(len(stretches.start), np.int64)
            hashes = segment_hashes(stretches.points, stretches.start, stretches.end)
            position, counts = _distinct(hashes, times)
            return stretches.text, (
                hashes[position],
                counts,
                stretches.start[position],
                stretches.end[position],
            )

        texts, found, length = [], [], 0
        for text, (hashes, counts, starts, ends) in _by_block(count, titles):
            found.append((hashes, counts, starts + length, ends + length))
            texts.append(text)
            length += len(text)
        hashes, counts, starts, ends = map(np.concatenate, zip(*found, strict=True))
        position, counts = _distinct(hashes, counts)
        often, text = counts >= units.min_count, "".join(texts)
        counted = [
            (int(count), text[starts[at] : ends[at]])
            for at, count in zip(position[often], counts[often], strict=True)
        ]
        if units.most:
            counted.sort(key=lambda unit: (len(unit[1]), -unit[0], unit[1]))
            orders = groupby(counted, key=lambda unit: len(unit[1]))
            counted = [unit for _, order in orders for unit in islice(order, units.most)]
        return cls(units, tuple(sorted(text for _, text in counted)))

    @property
    def size(self) -> int:
        """Number of distinct ids, padding and unknown included."""
        return FIRST + (self.units.buckets or len(self.known))

    def ids(self, titles: Sequence[str]) -> tuple[Ids, Bool[np.ndarray, " title"]]:
        """Ids of cleaned titles, and which of them were cut."""
        if self.units.unit == "subword":
            read = subwords(titles, self.units)
            ids = self._look_up(read)
            known = ids != UNKNOWN
            sizes = np.bincount(read.group[known], minlength=read.groups)
            wide = sizes[read.mentions]
            begins = (sizes.cumsum() - sizes)[read.mentions] - (wide.cumsum() - wide)
            flat = ids[known][np.arange(wide.sum()) + begins.repeat(wide)]
            lengths = np.bincount(read.row, wide, len(titles)).astype(np.int64)
            truncated = read.truncated
        else:
            stretches = spans(titles, self.units)
            flat, row, truncated = self._look_up(stretches), stretches.row, stretches.truncated
            if self.units.unit == "ngram":
                known = flat != UNKNOWN
                flat, row = flat[known], row[known]
            lengths = np.bincount(row, minlength=len(titles))
        empty = lengths == 0
        if empty.any():
            flat = np.insert(flat, lengths.cumsum()[empty], PADDING)
        return Ids(flat, np.maximum(lengths, 1)), truncated

    def _look_up(self, stretches: Spans | Subwords) -> Int[np.ndarray, " unit"]:
        hashes = segment_hashes(stretches.points, stretches.start, stretches.end)
        if self.units.buckets:
            return FIRST + (hashes % np.uint64(self.units.buckets)).astype(np.int64)
        known, position, firsts = self._hashes
        # where the hashes with the same first bits begin, and from there on to the first not below
        at = firsts[hashes >> np.uint64(64 - _bits(known))]
        below = (known[at] < hashes).nonzero()[0]
        while len(below):
            at[below] += 1
            below = below[known[at[below]] < hashes[below]]
        return np.where(known[at] == hashes, position[at] + FIRST, UNKNOWN)

    @cached_property
    def _hashes(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Hashes of the vocabulary in order, their positions in it, and where first bits begin.

        The last hash is one more than there are, above all, whose id is `UNKNOWN`.
        """
        text, ends = Texts.of(self.known).joined()
        hashes = segment_hashes(code_points(text), ends[:-1], ends[1:])
        order = hashes.argsort()
        known = np.append(hashes[order], np.uint64(2**64 - 1))
        position = np.append(order, UNKNOWN - FIRST)
        bits = _bits(known)
        firsts = np.arange(2**bits, dtype=np.uint64) << np.uint64(64 - bits)
        return known, position, known.searchsorted(firsts)


@dataclass(frozen=True)
class Featurizer:
    """The vocabularies of a trained encoder, one for each kind of unit."""

    alphabet: str
    """All characters of the training titles, sorted; a title without a letter of it is not
    answered (`models/serving/clean.py`)."""
    vocabularies: tuple[Vocabulary, ...]

    @classmethod
    def fit(cls, titles: Sequence[str], units: Sequence[UnitSettings]) -> Featurizer:
        """Fit alphabet and vocabularies on cleaned titles."""
        return cls(
            "".join(sorted(set().union(*titles))),
            tuple(Vocabulary.fit(titles, unit) for unit in units),
        )

    @classmethod
    def from_values(
        cls, values: dict[str, Any], known: Sequence[Sequence[str]] | None = None
    ) -> Featurizer:
        """From its `values`, read back from JSON.

        `known`: that of each vocabulary, if it was kept elsewhere.
        """
        fitted = values["vocabularies"]
        vocabularies = []
        for units, own in zip(
            fitted, known or [tuple(one["known"]) for one in fitted], strict=True
        ):
            orders = tuple(units["units"]["orders"])
            vocabularies.append(
                Vocabulary(UnitSettings(**units["units"] | {"orders": orders}), own)
            )
        return cls(values["alphabet"], tuple(vocabularies))

    def values(self) -> dict[str, Any]:
        """Return plain values, from which `from_values` makes it again."""
        vocabularies = [
            {"units": asdict(one.units), "known": list(one.known)} for one in self.vocabularies
        ]
        return {"alphabet": self.alphabet, "vocabularies": vocabularies}

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of ids of each vocabulary: what an encoder is made with."""
        return tuple(vocabulary.size for vocabulary in self.vocabularies)

    def __call__(self, titles: Sequence[str]) -> Features:
        """Featurize cleaned titles."""
        streams, truncated = [], np.zeros(len(titles), bool)
        for vocabulary in self.vocabularies:
            blocks = _by_block(vocabulary.ids, titles)
            streams.append(Ids(*map(np.concatenate, zip(*(ids for ids, _ in blocks), strict=True))))
            truncated |= np.concatenate([block for _, block in blocks])
        return Features(tuple(streams), truncated)


def _by_block(make: Callable[[Sequence[str]], Made], titles: Sequence[str]) -> list[Made]:
    """Return what is made of each `BLOCK` titles, one at least; numpy runs beside itself."""
    first = make(titles[:BLOCK])  # alone, so that what all read is made once
    blocks = [titles[start : start + BLOCK] for start in range(BLOCK, len(titles), BLOCK)]
    if not blocks:
        return [first]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return [first, *pool.map(make, blocks)]


def _distinct(
    hashes: UInt64[np.ndarray, " unit"], counts: Int[np.ndarray, " unit"]
) -> tuple[Int[np.ndarray, " distinct"], Int[np.ndarray, " distinct"]]:
    """Return one position of each distinct hash, and the sum of its counts."""
    order = hashes.argsort()
    ordered = hashes[order]
    starts = np.append(True, ordered[1:] != ordered[:-1])[: len(order)].nonzero()[0]
    return order[starts], np.add.reduceat(counts[order], starts) if len(starts) else counts


def _bits(known: UInt64[np.ndarray, " unit"]) -> int:
    """Return how many first bits of a hash tell about as many apart as there are."""
    return min(24, len(known).bit_length())
