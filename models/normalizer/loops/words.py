"""Compiled loops over the words of many texts, as regular expressions find them text by text.

`models/search/words/word_evidence.py` has the formulas.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from models.normalizer.loops.characters import (
    DASH,
    IS_ALNUM,
    IS_ALPHA,
    IS_JOINT,
    IS_SEPARATOR,
    IS_SPACE,
    Characters,
    Classes,
    Places,
    Points,
)
from models.normalizer.loops.hashing import BASE_64, NOTHING_64, ONE_64, Hashes, Numbers
from models.search.words.word_evidence import SHORT, STEM

if TYPE_CHECKING:
    from jaxtyping import Bool, Float64


Logs: TypeAlias = "Float64[np.ndarray, ' log']"


class Words(NamedTuple):
    """The words of some texts, as `WORDS` finds them.

    Attributes:
        points: code points of all texts.
        begins: where each word begins in `points`.
        stops: where it ends.
        firsts: number of the first word of each text; one more at the end.
        hashes: of each word (`models/search/words/near_words.py`).
    """

    points: Points
    begins: Places
    stops: Places
    firsts: Places
    hashes: Hashes


def find_words(
    characters: Characters,
    classes: Classes,
    begins: Places,
    stops: Places,
    firsts: Places,
    hashes: Hashes,
) -> int:
    """Write the words of each text as `Words` has them; return how many there are."""
    (points, ends), at = characters, 0
    for text in range(len(ends) - 1):
        firsts[text] = at
        place, end = ends[text], ends[text + 1]
        while place < end:
            if not classes[points[place]] & IS_ALNUM:
                place += 1
                continue
            begins[at] = place
            total, power = NOTHING_64, ONE_64
            while place < end and classes[points[place]] & (IS_ALNUM | IS_JOINT):
                total += np.uint64(points[place]) * power
                power *= BASE_64
                place += 1
            stops[at], hashes[at] = place, total
            at += 1
    firsts[len(ends) - 1] = at
    return at


def mark_words(
    words: Words, ends: Places, classes: Classes, are_last: Bool[np.ndarray, " word"]
) -> None:
    """Mark the words of letters alone that a part ends with (`models/search/words/respelling.py`).

    `ends`: where each text ends in the points.
    """
    points, begins, stops, firsts, _ = words
    for text in range(len(ends) - 1):
        end = ends[text + 1]
        for word in range(firsts[text], firsts[text + 1]):
            stop = after = stops[word]
            while after < end and classes[points[after]] & IS_SPACE:
                after += 1
            is_last = after == end or classes[points[after]] & IS_SEPARATOR != 0
            if not is_last and points[after] == DASH:
                is_gap = after + 1 < end and classes[points[after + 1]] & IS_SPACE != 0
                is_last = after > stop or is_gap
            for place in range(begins[word], stop):
                is_last = is_last and classes[points[place]] & IS_ALPHA != 0
            are_last[word] = is_last


def common_letters(
    one: Points, begin: int, stop: int, other: Points, other_begin: int, other_stop: int
) -> int:
    """Return how many letters two words have in common from their beginning."""
    least = min(stop - begin, other_stop - other_begin)
    for letter in range(least):
        if one[begin + letter] != other[other_begin + letter]:
            return letter
    return least


def are_an_edit(
    one: Points, begin: int, stop: int, other: Points, other_begin: int, other_stop: int
) -> bool:
    """Say whether one edit makes a word, the shorter one, another."""
    common = common_letters(one, begin, stop, other, other_begin, other_stop)
    rest = 0
    while rest < stop - begin - common and one[stop - 1 - rest] == other[other_stop - 1 - rest]:
        rest += 1
    edited = other_stop - other_begin - common - rest
    if edited != 2 or stop - begin != other_stop - other_begin:
        return edited <= 1
    place, opposite = begin + common, other_begin + common
    return bool(one[place] == other[opposite + 1] and one[place + 1] == other[opposite])


def are_same_word(
    one: Points, begin: int, stop: int, other: Points, other_begin: int, other_stop: int
) -> bool:
    """Say whether two words are forms or spellings of one."""
    if one[begin] != other[other_begin] and one[stop - 1] != other[other_stop - 1]:  # most
        return False
    if stop - begin > other_stop - other_begin:
        one, other = other, one
        begin, other_begin, stop, other_stop = other_begin, begin, other_stop, stop
    shorter, longer = stop - begin, other_stop - other_begin
    common = common_letters(one, begin, stop, other, other_begin, other_stop)
    if common == longer:
        return True
    if shorter < STEM or longer - shorter > STEM:
        return False
    return common >= max(STEM, longer - 2) or are_an_edit(
        one, begin, stop, other, other_begin, other_stop
    )


def lacking_share(words: Words, text: int, others: Words, other: int) -> float:
    """Return the share of the letters of a text's words that have no like in another text."""
    (points, begins, stops, firsts, _), letters, lacking = words, 0, 0
    other_points, other_begins, other_stops, other_firsts, _ = others
    for word in range(firsts[text], firsts[text + 1]):
        begin, stop = begins[word], stops[word]
        letters += stop - begin
        is_there = False
        for one in range(other_firsts[other], other_firsts[other + 1]):
            own, end = other_begins[one], other_stops[one]
            is_there = is_there or are_same_word(points, begin, stop, other_points, own, end)
        if not is_there:
            lacking += stop - begin
    return lacking / max(letters, 1)


def compare_words(
    titles: Words,
    numbers: Numbers,
    logs: Logs,
    aliases: Words,
    places: Places,
    forms: Words,
    starts: Places,
    labels: Places,
    features: Float64[np.ndarray, "title feature"],
) -> None:
    """Write all of `EVIDENCE` but the last (`models/search/words/word_evidence.py`).

    Args:
        titles: words of the titles.
        numbers: of these words.
        logs: log(1 + titles that end with a word); the last one is that of unknown words.
        aliases: words of all aliases.
        places: closest alias of each title.
        forms: words of the forms of all labels.
        starts: where the forms of each label begin.
        labels: label of each title.
        features: written.
    """
    points, begins, stops, firsts, _ = titles
    others, other_begins, other_stops, other_firsts, _ = aliases
    for title in range(len(places)):
        row, first, last = features[title], firsts[title], firsts[title + 1]
        if first == last:
            row[:3], row[3:7], row[7] = 1.0, 0.0, 1.0
            continue
        alias, longest = places[title], 0
        unsaid = lacking_share(aliases, alias, titles, title)
        row[0], row[1], row[2] = lacking_share(titles, title, aliases, alias), unsaid, 0.0
        for form in range(starts[labels[title]], starts[labels[title] + 1]):
            share = lacking_share(forms, form, titles, title)
            if form == starts[labels[title]] or share < row[2]:
                row[2] = share
        for word in range(first, last):
            longest = max(longest, stops[word] - begins[word])
        row[3:7], row[7] = 0.0, 1.0 if longest <= SHORT else 0.0
        if last - first == 1:
            row[3], row[4], row[5] = 1.0, row[0], logs[numbers[first]]
            one, begin, stop = other_firsts[alias], begins[first], stops[first]
            if unsaid > 0 and one < other_firsts[alias + 1]:
                own, end = other_begins[one], other_stops[one]
                row[6] = 1.0 if are_same_word(points, begin, stop, others, own, end) else 0.0
