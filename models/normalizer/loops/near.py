"""Compiled loops that find known words an edit away (`models/search/words/respelling.py`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from models.normalizer.loops.characters import (
    DASH,
    IS_ALPHA,
    IS_SEPARATOR,
    IS_SPACE,
    Classes,
    Places,
)
from models.normalizer.loops.hashing import BASE_64, NOTHING_64, ONE_64, Hashes, Numbers
from models.normalizer.loops.words import (
    BEGINS,
    FIRSTS,
    POINTS,
    STOPS,
    Words,
    are_an_edit,
    common_letters,
)
from models.search.words.near_words import HASH_INVERSE

if TYPE_CHECKING:
    from jaxtyping import Bool


INVERSE_64 = np.uint64(HASH_INVERSE)


def mark_words(
    words: Words, ends: Places, classes: Classes, are_last: Bool[np.ndarray, " word"]
) -> None:
    """Mark the words of letters alone that a part ends with (`models/search/words/respelling.py`).

    `ends`: where each text ends in the points.
    """
    points = words[POINTS]
    for text in range(len(ends) - 1):
        end = ends[text + 1]
        for word in range(words[FIRSTS][text], words[FIRSTS][text + 1]):
            after = words[STOPS][word]
            while after < end and classes[points[after]] & IS_SPACE:
                after += 1
            is_last = after == end or classes[points[after]] & IS_SEPARATOR != 0
            if not is_last and points[after] == DASH:
                is_last = after > words[STOPS][word] or (
                    after + 1 < end and classes[points[after + 1]] & IS_SPACE != 0
                )
            for place in range(words[BEGINS][word], words[STOPS][word]):
                is_last = is_last and classes[points[place]] & IS_ALPHA != 0
            are_last[word] = is_last


def choose_near(
    words: Words,
    chosen: Places,
    known: Words,
    hashes: Hashes,
    owners: Numbers,
    buckets: Places,
    counts: Places,
    least: Places,
    best: Places,
) -> None:
    """Write the most frequent known word that an edit makes of each of some words, −1: none.

    Args:
        words: of texts.
        chosen: numbers of those looked up.
        known: words that are known, one each.
        hashes: of `NearWords`.
        owners: of `NearWords`.
        buckets: where the hashes begin that have the same first bits.
        counts: how frequent each known word is.
        least: how frequent a word has to be; above 0, the first letter has to agree as well.
        best: written.
    """
    bits = 0
    while 1 << bits < len(buckets):
        bits += 1
    shift = np.uint64(64 - bits)
    for number in range(len(chosen)):
        begin, stop = words[BEGINS][chosen[number]], words[STOPS][chosen[number]]
        whole, power, found = NOTHING_64, ONE_64, -1
        for place in range(begin, stop):
            whole += np.uint64(words[POINTS][place]) * power
            power *= BASE_64
        before, power = NOTHING_64, ONE_64
        for removed in range(begin - 1, stop):
            key = whole
            if removed >= begin:
                term = np.uint64(words[POINTS][removed]) * power
                key = before + (whole - before - term) * INVERSE_64
                before += term
                power *= BASE_64
            at = buckets[key >> shift]
            while at < len(hashes) and hashes[at] < key:
                at += 1
            while at < len(hashes) and hashes[at] == key:
                one = int(owners[at])
                at += 1
                count = counts[one]
                if count < least[number] or (
                    found >= 0
                    and (count < counts[found] or (count == counts[found] and one >= found))
                ):
                    continue
                own, own_stop = known[BEGINS][one], known[STOPS][one]
                if least[number] > 0 and known[POINTS][own] != words[POINTS][begin]:
                    continue
                common = common_letters(words[POINTS], begin, stop, known[POINTS], own, own_stop)
                if common == stop - begin == own_stop - own:
                    continue
                if stop - begin <= own_stop - own:
                    is_near = are_an_edit(words[POINTS], begin, stop, known[POINTS], own, own_stop)
                else:
                    is_near = are_an_edit(known[POINTS], own, own_stop, words[POINTS], begin, stop)
                if is_near:
                    found = one
        best[number] = found
