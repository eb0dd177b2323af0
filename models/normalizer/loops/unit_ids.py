"""The compiled loop that finds the units of many titles, as `models/text/spans.py` does."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from models.normalizer.loops.characters import (
    DOT,
    IS_ALNUM,
    IS_MARK,
    IS_SIGN,
    Characters,
    Classes,
    Places,
    Points,
)
from models.normalizer.loops.hashing import (
    NOTHING_64,
    ONE_64,
    STEP_64,
    Hashes,
    Numbers,
    mixed,
    slot_of,
)
from models.text.featurizer import FIRST, PADDING

if TYPE_CHECKING:
    from jaxtyping import Bool


SPACE_64 = np.uint64(ord(" "))


def is_of_unit(points: Points, place: int, end: int, classes: Classes) -> bool:
    """Say whether a character belongs to a word of a featurizer (`models/text/spans.py`)."""
    if classes[points[place]] & (IS_ALNUM | IS_MARK | IS_SIGN):
        return True
    is_stop = points[place] == DOT and place + 1 < end
    return is_stop and classes[points[place + 1]] & (IS_ALNUM | IS_MARK) != 0


def add_known(known: tuple[Hashes, Numbers], key: np.uint64, ids: Places, at: int) -> int:
    """Write the id of a unit, if it is known; return the place of the next one."""
    keys, numbers = known
    number = numbers[slot_of(keys, numbers, key)]
    if number >= 0:
        ids[at] = number + FIRST
        return at + 1
    return at


def find_units(
    characters: Characters,
    classes: Classes,
    orders: Bool[np.ndarray, " length+1"],
    most: int,
    by_word: bool,
    known: tuple[Hashes, Numbers],
    found: tuple[Places, Places],
) -> int:
    """Find the known n-grams or subwords of titles; return how many.

    Args:
        characters: of cleaned titles.
        classes: of characters.
        orders: whether n-grams of a length are read.
        most: characters or, of subwords, words that are read of a title.
        by_word: whether units are subwords.
        known: the vocabulary.
        found: written: ids, and where those of each title begin; of one without units padding.
    """
    (points, ends), (ids, starts) = characters, found
    longest, at = len(orders) - 1, 0
    framed = np.empty(len(points) + 2, np.uint64)
    for title in range(len(ends) - 1):
        starts[title] = at
        place, end, words = ends[title], ends[title + 1], 0
        before, before_step = NOTHING_64, ONE_64
        while place < end or (words == 0 and not by_word):
            if by_word:
                if words == most:
                    break
                if not is_of_unit(points, place, end, classes):
                    place += 1
                    continue
                stop = place + 1
                while stop < end and is_of_unit(points, stop, end, classes):
                    stop += 1
            else:
                stop = min(end, place + most)
            size = stop - place + 2
            framed[0] = framed[size - 1] = mixed(SPACE_64)
            for letter in range(size - 2):
                framed[letter + 1] = mixed(np.uint64(points[place + letter]))
            whole, step = NOTHING_64, ONE_64
            for start in range(size):
                total, power = NOTHING_64, ONE_64
                for length in range(1, min(longest, size - start) + 1):
                    total += framed[start + length - 1] * power
                    power *= STEP_64
                    if orders[length]:
                        at = add_known(known, mixed(total), ids, at)
                whole += framed[start] * step
                step *= STEP_64
            if by_word and size > longest:
                at = add_known(known, mixed(whole), ids, at)
            if by_word and words:
                at = add_known(known, mixed(before + before_step * whole), ids, at)
            before, before_step = whole, step
            words += 1
            place = stop if by_word else end
        if at == starts[title]:
            ids[at] = PADDING
            at += 1
    starts[len(ends) - 1] = at
    return at
