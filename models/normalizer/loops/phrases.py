"""Compiled loops that find phrases in raw titles, as `Qualifiers` does title by title."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from models.normalizer.loops.characters import (
    EXPANDING,
    HAS_CAPITAL,
    IS_ALNUM,
    IS_DECIMAL,
    IS_DIGIT,
    IS_INNER,
    IS_LOWER,
    IS_MONEY,
    IS_SPACE,
    Characters,
    Classes,
    Places,
    Points,
)
from models.normalizer.loops.hashing import (
    BASE_64,
    NOTHING_64,
    ONE_64,
    Hashes,
    Numbers,
    mixed,
    slot_of,
)
from models.normalizer.qualifiers import ALL_KINDS, NEITHER

if TYPE_CHECKING:
    from jaxtyping import UInt32


Tokens: TypeAlias = tuple[Places, Places, Hashes]

ANY_CASE, FIRST_CAPITAL, ALL_CAPITALS = range(3)
SENIORITY, NO_KIND, REPORTED = (ALL_KINDS.index(own) for own in ("seniority", NEITHER, NEITHER))
"""Places of kinds; those below `REPORTED` are `KINDS`."""
APOSTROPHE, QUOTE = (np.uint32(ord(sign)) for sign in "'’")


class Phrases(NamedTuple):
    """The phrases of `Qualifiers`, by hashes of their tokens.

    Attributes:
        first_keys: slots of a table of first tokens.
        first_numbers: numbers of these.
        lengths: most tokens of a phrase that begins with each; 0, the last, of other tokens.
        keys: slots of a table of phrases.
        numbers: numbers of these.
        kinds: places in `ALL_KINDS`.
        capitals: which capitals a title needs as well.
        number_hash: of a number in a phrase.
        money_hash: of an amount of money.
    """

    first_keys: Hashes
    first_numbers: Numbers
    lengths: Places
    keys: Hashes
    numbers: Numbers
    kinds: Places
    capitals: Places
    number_hash: np.uint64
    money_hash: np.uint64


def hash_phrases(hashes: Hashes, starts: Places, keys: Hashes) -> None:
    """Write a hash of each phrase from those of its tokens."""
    for phrase in range(len(keys)):
        key = NOTHING_64
        for token in range(starts[phrase], starts[phrase + 1]):
            key = mixed(key + hashes[token])
        keys[phrase] = key


def end_of_token(points: Points, place: int, end: int, classes: Classes) -> int:
    """Return where the token at a place ends (`TOKENS` of the qualifiers); the place if none."""
    at, kind = place + 1, classes[points[place]]
    if kind & IS_MONEY:
        at += at < end and classes[points[at]] & IS_SPACE != 0
        if at == end or not classes[points[at]] & IS_DECIMAL:
            return place
        while at < end and classes[points[at]] & (IS_DECIMAL | IS_INNER):
            at += 1
        return at
    if not kind & IS_ALNUM:
        return place
    is_number = kind & IS_DECIMAL != 0
    while at < end:
        own = classes[points[at]]
        if own & IS_ALNUM and (own & IS_DECIMAL != 0) == is_number:
            at += 1
            continue
        joins = own & IS_INNER != 0 if is_number else points[at] in (APOSTROPHE, QUOTE)
        if not joins or at + 1 == end:
            return at
        after = classes[points[at + 1]]
        if not after & IS_ALNUM or (after & IS_DECIMAL != 0) != is_number:
            return at
        at += 2
    return at


def is_spelled(points: Points, begin: int, stop: int, capitals: int, classes: Classes) -> bool:
    """Say whether the capitals of a phrase are where they have to be."""
    if capitals == FIRST_CAPITAL:
        return bool(classes[points[begin]] & IS_LOWER == 0)
    for place in range(begin, stop if capitals == ALL_CAPITALS else begin):
        if classes[points[place]] & HAS_CAPITAL:
            return False
    return True


def tokens_between(
    characters: Characters,
    title: int,
    classes: Classes,
    folded: UInt32[np.ndarray, " point"],
    phrases: tuple[Any, ...],
    tokens: Tokens,
) -> int:
    """Write the tokens of a title; return how many, −1 if one cannot be folded here."""
    (points, ends), (begins, stops, hashes) = characters, tokens
    _, _, _, _, _, _, _, number, money = phrases
    place, end, count = ends[title], ends[title + 1], 0
    while place < end:
        stop = end_of_token(points, place, end, classes)
        if stop == place:
            place += 1
            continue
        total, power = NOTHING_64, ONE_64
        if classes[points[place]] & IS_DIGIT:
            total = number
        elif classes[points[place]] & IS_MONEY:
            total = money
        else:
            for letter in range(place, stop):
                if folded[points[letter]] == EXPANDING:
                    return -1
                total += np.uint64(folded[points[letter]]) * power
                power *= BASE_64
        begins[count], stops[count], hashes[count] = place, stop, total
        count += 1
        place = stop
    return count


def longest_phrase(
    points: Points,
    classes: Classes,
    phrases: tuple[Any, ...],
    tokens: Tokens,
    token: int,
    count: int,
) -> tuple[int, int]:
    """Return the kind of the longest phrase at a token of `count`, −1: none, and its tokens."""
    begins, stops, hashes = tokens
    first_keys, first_numbers, lengths, keys, numbers, kinds, all_capitals, _, _ = phrases
    first = first_numbers[slot_of(first_keys, first_numbers, hashes[token])]
    longest = min(lengths[first], count - token)
    kind, length, key = -1, 1, NOTHING_64
    for more in range(longest):
        key = mixed(key + hashes[token + more])
        number = numbers[slot_of(keys, numbers, key)]
        if number >= 0:
            fits, capitals = True, all_capitals[number]
            last = token + more if capitals == ALL_CAPITALS else token
            for one in range(token, last + 1):
                fits = fits and is_spelled(points, begins[one], stops[one], capitals, classes)
            if fits:
                kind, length = kinds[number], more + 1
    return kind, length


def find_phrases(
    characters: Characters,
    classes: Classes,
    folded: UInt32[np.ndarray, " point"],
    phrases: tuple[Any, ...],
    found: tuple[Places, ...],
) -> None:
    """Find the qualifiers of raw titles.

    Args:
        characters: of the titles.
        classes: of characters.
        folded: characters, casefolded.
        phrases: looked for.
        found: written: kind, begin and end of each span of one of `KINDS`; where the spans of each
            title begin; and of each title 1 if it names no job, −1 if it cannot be folded here.
    """
    (points, _), (kinds, begins, stops, firsts, states) = characters, found
    most, at = len(points), 0
    tokens = (np.empty(most, np.int64), np.empty(most, np.int64), np.empty(most, np.uint64))
    for title in range(len(states)):
        firsts[title] = at
        count = tokens_between(characters, title, classes, folded, phrases, tokens)
        token, before, before_stop, names_no_job = 0, -1, -1, count > 0
        while token < count:
            kind, length = longest_phrase(points, classes, phrases, tokens, token, count)
            begin, stop = tokens[0][token], tokens[1][token + length - 1]
            token += length
            if kind in (-1, SENIORITY, NO_KIND):
                names_no_job = False
            if kind < 0:
                continue
            is_joined = kind == before
            for gap in range(before_stop, begin if is_joined else before_stop):
                is_joined = is_joined and classes[points[gap]] & IS_SPACE != 0
            if kind < REPORTED:
                if not is_joined:
                    kinds[at], begins[at] = kind, begin
                    at += 1
                stops[at - 1] = stop
            before, before_stop = kind, stop
        states[title] = -1 if count < 0 else np.int64(names_no_job)
    firsts[len(states)] = at
