"""Loops over the characters of many titles, compiled by numba: their words and their units.

Each of them does what a module beside it does title by title with regular expressions, and gives
the same to the last bit. Characters are code points of one long text; their classes are Python's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, Self
from unicodedata import category

import numpy as np

from models.normalizer.qualifiers import ALL_KINDS, NEITHER
from models.search.kernels import compile_all, kernels_at_hand
from models.search.ood_score import ENDING, MEAN, SINGLE, STRONG
from models.search.words.near_words import HASH_BASE, HASH_INVERSE
from models.search.words.word_evidence import SHORT, STEM
from models.text.featurizer import FIRST, PADDING
from models.text.spans import FACTOR, WORD_SIGNS

if TYPE_CHECKING:
    from jaxtyping import Bool, Float64, Int32, Int64, UInt16, UInt32, UInt64

    Points = UInt32[np.ndarray, " character"]
    Classes = UInt16[np.ndarray, " point"]
    Hashes = UInt64[np.ndarray, " hash"]
    Numbers = Int32[np.ndarray, " number"]
    Places = Int64[np.ndarray, " place"]
    Logs = Float64[np.ndarray, " log"]

IS_ALNUM, IS_ALPHA, IS_MARK, IS_JOINT, IS_SIGN, IS_SEPARATOR, IS_SPACE = (1 << b for b in range(7))
IS_DECIMAL, IS_DIGIT, IS_MONEY, IS_INNER, IS_LOWER, HAS_CAPITAL = (1 << b for b in range(7, 13))
UNSEEN, UNFOLDED, EXPANDING = 1 << 15, 0xFFFFFFFF, 0xFFFFFFFE
ANY_CASE, FIRST_CAPITAL, ALL_CAPITALS = range(3)
SENIORITY, NO_KIND, REPORTED = (ALL_KINDS.index(own) for own in ("seniority", NEITHER, NEITHER))
"""Places of kinds; those below `REPORTED` are `KINDS`."""
JOINTS, SEPARATORS = "+#'&", ",(/|:;)[]–"
"""Signs inside of a word, and between parts (`models/search/words/title_words.py`)."""
DOT, DASH, APOSTROPHE, QUOTE = (np.uint32(ord(sign)) for sign in ".-'’")
STEP_64, SPACE_64 = np.uint64(FACTOR), np.uint64(ord(" "))
BASE_64, INVERSE_64 = np.uint64(HASH_BASE), np.uint64(HASH_INVERSE)
MIX_1, MIX_2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
SHIFT_1, SHIFT_2, SHIFT_3 = np.uint64(30), np.uint64(27), np.uint64(31)
NOTHING_64, ONE_64 = np.uint64(0), np.uint64(1)


POINTS, BEGINS, STOPS, FIRSTS = range(4)
"""Places in a tuple of `Words`; numba keeps compiled code for plain tuples alone."""
FIRST_KEYS, FIRST_NUMBERS, LENGTHS, PHRASE_KEYS, PHRASE_NUMBERS, KINDS_OF, CAPITALS = range(7)
NUMBER_HASH, MONEY_HASH = 7, 8
"""Places in a tuple of `Phrases`."""


class TextKernels(NamedTuple):
    """The functions below, compiled."""

    fill_slots: Callable[..., None]
    find_units: Callable[..., int]
    find_words: Callable[..., int]
    hash_words: Callable[..., None]
    number_words: Callable[..., None]
    count_bonuses: Callable[..., None]
    compare_words: Callable[..., None]
    mark_words: Callable[..., None]
    choose_near: Callable[..., None]
    hash_phrases: Callable[..., None]
    find_phrases: Callable[..., None]


def text_kernels_at_hand() -> TextKernels | None:
    """Return the kernels if those of the search were compiled before."""
    return text_kernels() if kernels_at_hand() else None


def needed_text_kernels() -> TextKernels:
    """Return the kernels, which are known to be there."""
    kernels = text_kernels()
    assert kernels is not None
    return kernels


@cache
def text_kernels() -> TextKernels | None:
    """Return the kernels, None without numba."""
    functions = (
        *(fill_slots, find_units, find_words, hash_words, number_words),
        *(count_bonuses, compare_words, mark_words, choose_near),
        *(hash_phrases, find_phrases),
    )
    inner = (
        *(mixed, slot_of, is_of_unit, ends_part),
        *(common_letters, are_an_edit, are_same_word, lacking_share),
        *(end_of_token, is_spelled, tokens_between, longest_phrase),
    )
    made = compile_all(functions, inner, reorder=False)
    return TextKernels(*map(_of_plain_tuples, made)) if made else None


def _of_plain_tuples(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let a compiled function take named tuples."""
    return lambda *values: function(
        *(tuple(value) if isinstance(value, tuple) else value for value in values)
    )


class Characters(NamedTuple):
    """The characters of some texts: `ends` says where each begins, and where the last one ends."""

    points: Points
    ends: Places


def characters_of(texts: Sequence[str]) -> Characters:
    """Return the code points of texts; lone surrogates too."""
    data = "".join(texts).encode("utf-32-le", "surrogatepass")
    ends = np.zeros(len(texts) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)), out=ends[1:])
    return Characters(np.frombuffer(data, np.uint32).copy(), ends)  # writable: one type for numba


class Words(NamedTuple):
    """The words of some texts, as `WORDS` finds them.

    Attributes:
        points: code points of all texts.
        begins: where each word begins in `points`.
        stops: where it ends.
        firsts: number of the first word of each text; one more at the end.
    """

    points: Points
    begins: Places
    stops: Places
    firsts: Places


Tokens = tuple["Places", "Places", "Hashes"]
"""Where each token of a title begins and ends, and its hash."""


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


def words_in(characters: Characters) -> Words:
    """Find the words of texts."""
    points, ends = characters
    begins, stops = np.empty((2, len(points) // 2 + len(ends)), np.int64)
    firsts = np.empty(len(ends), np.int64)
    classes = classes_for(points)
    count = needed_text_kernels().find_words(characters, classes, begins, stops, firsts)
    return Words(points, begins[:count].copy(), stops[:count].copy(), firsts)


def classes_for(points: Points) -> Classes:
    """Return the classes of all characters, those of some at least being known."""
    classes = _classes()
    for point in np.unique(points[classes[points] == UNSEEN]).tolist():
        character = chr(point)
        classes[point] = (
            IS_ALNUM * character.isalnum()
            | IS_ALPHA * character.isalpha()
            | IS_MARK * (category(character)[0] == "M")
            | IS_JOINT * (character in JOINTS)
            | IS_SIGN * (character in WORD_SIGNS)
            | IS_SEPARATOR * (character in SEPARATORS)
            | IS_SPACE * character.isspace()
            | IS_DECIMAL * character.isdecimal()
            | IS_DIGIT * character.isdigit()
            | IS_MONEY * (character in "£$€¥")
            | IS_INNER * (character in ".,:/-")
            | IS_LOWER * character.islower()
            | HAS_CAPITAL * (character.upper() != character)
        )
    return classes


def folded_for(points: Points) -> UInt32[np.ndarray, " point"]:
    """Return what casefolding makes of all characters, or `EXPANDING` where that is several."""
    folded = _folded_points()
    for point in np.unique(points[folded[points] == UNFOLDED]).tolist():
        text = chr(point).casefold()
        folded[point] = ord(text) if len(text) == 1 else EXPANDING
    return folded


@cache
def _classes() -> Classes:
    return np.full(0x110000, UNSEEN, np.uint16)


@cache
def _folded_points() -> UInt32[np.ndarray, " point"]:
    return np.full(0x110000, UNFOLDED, np.uint32)


@dataclass(frozen=True, eq=False)
class HashTable:
    """Hashes to their numbers, in open addressing.

    Attributes:
        keys: a hash in each slot that is taken.
        numbers: of these; −1 in a free slot.
    """

    keys: Hashes
    numbers: Numbers

    @classmethod
    def of(cls, hashes: Hashes) -> Self:
        """Number hashes by their places; of equal ones the first counts. It needs the kernels."""
        slots = 1 << (2 * len(hashes)).bit_length()
        made = cls(np.zeros(slots, np.uint64), np.full(slots, -1, np.int32))
        needed_text_kernels().fill_slots(hashes, made.keys, made.numbers)
        return made

    @property
    def arrays(self) -> tuple[Hashes, Numbers]:
        """Both, for the kernels."""
        return self.keys, self.numbers


def mixed(value: np.uint64) -> np.uint64:
    """Let every bit depend on every other, as `models/text/spans.py` does."""
    value = value + STEP_64
    value = (value ^ (value >> SHIFT_1)) * MIX_1
    value = (value ^ (value >> SHIFT_2)) * MIX_2
    return value ^ (value >> SHIFT_3)


def slot_of(keys: Hashes, numbers: Numbers, key: np.uint64) -> np.uint64:
    """Return the slot of a key, or the free one where it belongs."""
    last = np.uint64(len(keys) - 1)
    slot = mixed(key) & last
    while numbers[slot] >= 0 and keys[slot] != key:
        slot = (slot + ONE_64) & last
    return slot


def fill_slots(hashes: Hashes, keys: Hashes, numbers: Numbers) -> None:
    """Put hashes into a free table."""
    for number in range(len(hashes)):
        slot = slot_of(keys, numbers, hashes[number])
        if numbers[slot] < 0:
            keys[slot], numbers[slot] = hashes[number], number


def is_of_unit(points: Points, place: int, end: int, classes: Classes) -> bool:
    """Say whether a character belongs to a word of a featurizer (`models/text/spans.py`)."""
    if classes[points[place]] & (IS_ALNUM | IS_MARK | IS_SIGN):
        return True
    is_stop = points[place] == DOT and place + 1 < end
    return is_stop and classes[points[place + 1]] & (IS_ALNUM | IS_MARK) != 0


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
    (points, ends), (keys, numbers), (ids, starts) = characters, known, found
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
                        number = numbers[slot_of(keys, numbers, mixed(total))]
                        if number >= 0:
                            ids[at] = number + FIRST
                            at += 1
                whole += framed[start] * step
                step *= STEP_64
            if by_word and size > longest:
                number = numbers[slot_of(keys, numbers, mixed(whole))]
                if number >= 0:
                    ids[at] = number + FIRST
                    at += 1
            if by_word and words:
                number = numbers[slot_of(keys, numbers, mixed(before + before_step * whole))]
                if number >= 0:
                    ids[at] = number + FIRST
                    at += 1
            before, before_step = whole, step
            words += 1
            place = stop if by_word else end
        if at == starts[title]:
            ids[at] = PADDING
            at += 1
    starts[len(ends) - 1] = at
    return at


def find_words(
    characters: Characters, classes: Classes, begins: Places, stops: Places, firsts: Places
) -> int:
    """Write where the words of each text begin and end; return how many there are."""
    (points, ends), at = characters, 0
    for text in range(len(ends) - 1):
        firsts[text] = at
        place, end = ends[text], ends[text + 1]
        while place < end:
            if classes[points[place]] & IS_ALNUM:
                begins[at] = place
                while place < end and classes[points[place]] & (IS_ALNUM | IS_JOINT):
                    place += 1
                stops[at] = place
                at += 1
            else:
                place += 1
    firsts[len(ends) - 1] = at
    return at


def hash_words(words: Words, hashes: Hashes) -> None:
    """Write the hash of each word (`models/search/words/near_words.py`)."""
    for word in range(len(hashes)):
        total, power = NOTHING_64, ONE_64
        for place in range(words[BEGINS][word], words[STOPS][word]):
            total += np.uint64(words[POINTS][place]) * power
            power *= BASE_64
        hashes[word] = total


def number_words(hashes: Hashes, keys: Hashes, known: Numbers, numbers: Numbers) -> None:
    """Write the number of each word by its hash, −1 of an unknown one."""
    for word in range(len(hashes)):
        numbers[word] = known[slot_of(keys, known, hashes[word])]


def ends_part(points: Points, begin: int, end: int, classes: Classes) -> bool:
    """Say whether a separator of parts stands between two words."""
    for place in range(begin, end):
        if classes[points[place]] & IS_SEPARATOR:
            return True
        if points[place] == DASH:
            before = place > begin and classes[points[place - 1]] & IS_SPACE != 0
            if before or (place + 1 < end and classes[points[place + 1]] & IS_SPACE != 0):
                return True
    return False


def count_bonuses(
    words: Words, numbers: Numbers, logs: Logs, classes: Classes, bonuses: Logs
) -> None:
    """Write how much the words of each text count (`models/search/ood_score.py`).

    `logs`: log(1 + titles that end with a word); the last one is that of unknown words.
    """
    for text in range(len(bonuses)):
        first, last = words[FIRSTS][text], words[FIRSTS][text + 1]
        total = most = bonuses[text] = 0.0
        for word in range(first, last):
            own = logs[numbers[word]]
            total += own
            if word + 1 == last or ends_part(
                words[POINTS], words[STOPS][word], words[BEGINS][word + 1], classes
            ):
                most = max(most, own)
        if first < last:
            alone = SINGLE if last - first == 1 else 0.0
            bonuses[text] = ENDING * min(STRONG, most) + MEAN * total / (last - first) - alone


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
    letters = lacking = 0
    for word in range(words[FIRSTS][text], words[FIRSTS][text + 1]):
        begin, stop = words[BEGINS][word], words[STOPS][word]
        letters += stop - begin
        is_there = False
        for one in range(others[FIRSTS][other], others[FIRSTS][other + 1]):
            if are_same_word(
                words[POINTS], begin, stop, others[POINTS], others[BEGINS][one], others[STOPS][one]
            ):
                is_there = True
                break
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
        logs: as for `count_bonuses`.
        aliases: words of all aliases.
        places: closest alias of each title.
        forms: words of the forms of all labels.
        starts: where the forms of each label begin.
        labels: label of each title.
        features: written.
    """
    for title in range(len(places)):
        row, first, last = features[title], titles[FIRSTS][title], titles[FIRSTS][title + 1]
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
            longest = max(longest, titles[STOPS][word] - titles[BEGINS][word])
        row[3:7], row[7] = 0.0, 1.0 if longest <= SHORT else 0.0
        if last - first == 1:
            row[3], row[4], row[5] = 1.0, row[0], logs[numbers[first]]
            one = aliases[FIRSTS][alias]
            if (
                unsaid > 0
                and one < aliases[FIRSTS][alias + 1]
                and are_same_word(
                    titles[POINTS],
                    titles[BEGINS][first],
                    titles[STOPS][first],
                    aliases[POINTS],
                    aliases[BEGINS][one],
                    aliases[STOPS][one],
                )
            ):
                row[6] = 1.0


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
    place, end, count = ends[title], ends[title + 1], 0
    while place < end:
        stop = end_of_token(points, place, end, classes)
        if stop == place:
            place += 1
            continue
        total, power = NOTHING_64, ONE_64
        if classes[points[place]] & IS_DIGIT:
            total = phrases[NUMBER_HASH]
        elif classes[points[place]] & IS_MONEY:
            total = phrases[MONEY_HASH]
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
    slot = slot_of(phrases[FIRST_KEYS], phrases[FIRST_NUMBERS], hashes[token])
    longest = min(phrases[LENGTHS][phrases[FIRST_NUMBERS][slot]], count - token)
    kind, length, key = -1, 1, NOTHING_64
    for more in range(longest):
        key = mixed(key + hashes[token + more])
        number = phrases[PHRASE_NUMBERS][
            slot_of(phrases[PHRASE_KEYS], phrases[PHRASE_NUMBERS], key)
        ]
        if number >= 0:
            fits, capitals = True, phrases[CAPITALS][number]
            last = token + more if capitals == ALL_CAPITALS else token
            for one in range(token, last + 1):
                fits = fits and is_spelled(points, begins[one], stops[one], capitals, classes)
            if fits:
                kind, length = phrases[KINDS_OF][number], more + 1
    return kind, length


def find_phrases(
    characters: Characters,
    classes: Classes,
    folded: UInt32[np.ndarray, " point"],
    phrases: tuple[Any, ...],
    found: tuple[
        Places,
        Places,
        Places,
        Places,
        Places,
    ],
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
    points, (kinds, begins, stops, firsts, states) = characters[POINTS], found
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
