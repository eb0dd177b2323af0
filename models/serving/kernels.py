"""The kernels of the served model: sums of units, scores, chances, words letter by letter.

numba compiles each kernel at its first call and keeps the machine code beside this file or, where
that cannot be written, in the user's folder for caches. The sums of a title have one order, so its
bits depend on no other title of its batch.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable
from functools import update_wrapper
from typing import TYPE_CHECKING, Any, TypeVar

import numba
import numpy as np
from numba.extending import intrinsic

from models.serving.index import LANES

if TYPE_CHECKING:
    from jaxtyping import Bool, Float32, Float64, Int, Int16, Int64, Shaped, UInt8, UInt32

Function = TypeVar("Function", bound=Callable[..., Any])
TITLES = 4  # titles that are multiplied with a block while it is at hand
STEM = 4  # letters that two forms of a word have in common at least
RANKS = np.float32(1 << 16)  # scores are ranked in so many steps of one
WIDEST = np.float32(1 << 17)  # rank of two, more than a score has
COMPARED_AT_ONCE = 16
"""Occupations of which none is looked at alone where all score less than the best."""
LEAST_POWER = np.float32(-80)  # exponents below it count as this one
OPTIONS = {"nogil": True, "error_model": "numpy", "fastmath": {"reassoc", "contract"}}
"""Of the compiler: sums of floats may be added up in any order, though always in the same."""


class Kernel:
    """A function that numba compiles and keeps."""

    def __init__(self, function: Callable[..., Any]) -> None:
        """Compile `function` at its first call."""
        self._function = function
        update_wrapper(self, function)
        try:
            self._compiled = numba.njit(cache=True, **OPTIONS)(function)
        except RuntimeError:  # no folder for compiled code can be written
            self._compiled = numba.njit(**OPTIONS)(function)

    def __call__(self, *values: Any) -> Any:  # noqa: ANN401  # of any kernel
        """Run the machine code; damaged or unwritable files of it are passed over."""
        try:
            return self._compiled(*values)
        except (OSError, EOFError, pickle.PickleError, ValueError, IndexError, KeyError):
            self._compiled = numba.njit(**OPTIONS)(self._function)
            return self._compiled(*values)


def inlined(function: Function) -> Function:
    """Let kernels call a function."""
    made: Function = numba.njit(**OPTIONS)(function)
    return made


def threads() -> int:
    """Return how many threads a process may use: `OMP_NUM_THREADS`, or as many as cores."""
    named = os.environ.get("OMP_NUM_THREADS", "")  # a list, too, where threads are nested
    return (int(named) if named.isdecimal() else 0) or os.cpu_count() or 1


@inlined
def power(x: np.float32) -> np.float32:
    """Return e^x for x from −90 to 80, with a relative error below 1e-5: (e^(x/64))^64."""
    one = np.float32(1)
    y = x * np.float32(1 / 64)
    e = np.float32(1 / 5040) + y * np.float32(1 / 40320)
    e = np.float32(1 / 120) + y * (np.float32(1 / 720) + y * e)
    e = np.float32(1 / 6) + y * (np.float32(1 / 24) + y * e)
    e = one + y * (one + y * (np.float32(1 / 2) + y * e))
    for _ in range(6):
        e *= e
    return e


@Kernel
def add_rows(
    ids: Int[np.ndarray, " unit"],
    starts: Int[np.ndarray, " title+1"],
    rows: Shaped[np.ndarray, "row dim"],
    scales: Float32[np.ndarray, " row"],
    sums: Float64[np.ndarray, "title dim"],
) -> None:
    """Add up the rows of each title's units times their scales."""
    for title in range(len(sums)):
        total = sums[title]
        for unit in range(starts[title], starts[title + 1]):
            row, scale = rows[ids[unit]], np.float64(scales[ids[unit]])
            for d in range(len(row)):
                total[d] += scale * row[d]


@Kernel
def add_half_rows(
    ids: Int[np.ndarray, " unit"],
    starts: Int[np.ndarray, " title+1"],
    rows: UInt8[np.ndarray, "row half"],
    scales: Float32[np.ndarray, " row"],
    sums: Float64[np.ndarray, "title dim"],
) -> None:
    """Add up rows of half bytes, 8 too large; four at once, since sums outgrow the registers."""
    half, lowest, shift = rows.shape[1], np.uint8(15), np.uint8(4)
    for title in range(len(sums)):
        lower, upper = sums[title, :half], sums[title, half:]
        last = starts[title + 1] - 1
        for unit in range(starts[title], last + 1, 4):
            a, b = ids[unit], ids[min(unit + 1, last)]
            c, d = ids[min(unit + 2, last)], ids[min(unit + 3, last)]
            by_a, by_b = np.float64(scales[a]), np.float64(scales[b] * (unit < last))
            by_c = np.float64(scales[c] * (unit + 1 < last))
            by_d = np.float64(scales[d] * (unit + 2 < last))
            one, two, three, four = rows[a], rows[b], rows[c], rows[d]
            for at in range(half):
                x, y, z, w = one[at], two[at], three[at], four[at]
                lower[at] += by_a * (x & lowest) + by_b * (y & lowest)
                lower[at] += by_c * (z & lowest) + by_d * (w & lowest)
                upper[at] += by_a * (x >> shift) + by_b * (y >> shift)
                upper[at] += by_c * (z >> shift) + by_d * (w >> shift)


@Kernel
def add_masses(
    sums: Int[np.ndarray, "title prototype"],
    steps: Float32[np.ndarray, " title"],
    factors: Float32[np.ndarray, " prototype"],
    extras: Float32[np.ndarray, " prototype"],
    counts: Int[np.ndarray, " count"],
    ends: Int[np.ndarray, " count"],
    masses: Float32[np.ndarray, "title occupation"],
) -> None:
    """Add up e^(product · step · factor + extra) over the prototypes of each occupation.

    `counts`, `ends`: as `Prototypes` has them, whose order the occupations are in.
    """
    for title in range(len(sums)):
        start, first = 0, 0
        for kind in range(len(counts)):
            width = (ends[kind] - start) // counts[kind]
            mass = masses[title, first : first + width]
            mass[:] = np.float32(0)
            first += width
            for _ in range(counts[kind]):
                end = start + width
                total, step = sums[title, start:end], steps[title]
                factor, extra = factors[start:end], extras[start:end]
                for at in range(width):
                    mass[at] += power(np.float32(total[at]) * step * factor[at] + extra[at])
                start = end


@Kernel
def choose_best(
    scores: Float32[np.ndarray, "title occupation"], best: Int[np.ndarray, "title candidate"]
) -> None:
    """Write the best occupations of each title by `RANKS`, in their order; of equal ones the first.

    The interval of ranks is halved until its lower end is the highest rank that enough of them
    reach. Then the occupations are passed block by block; one of lower ranks alone is skipped.
    """
    most, half = best.shape[1], np.float32(0.5)
    for title in range(len(scores)):
        row, low, high, better = scores[title], -WIDEST, WIDEST, np.int32(0)
        while high - low > 1 and better < most:
            middle, above = np.floor((low + high) * half), np.int32(0)
            for name in range(len(row)):
                above = np.int32(above + (row[name] * RANKS >= middle))
            if above <= most:
                high, better = middle, above
            else:
                low = middle
        alike, at = most - better, 0
        for rank in range(most):
            best[title, rank] = rank  # of scores that are no numbers
        for start in range(0, len(row), COMPARED_AT_ONCE):
            block, above = row[start : start + COMPARED_AT_ONCE], np.int32(0)
            for name in range(len(block)):
                above = np.int32(above + (block[name] * RANKS >= low))
            for name in range(len(block) * (above > 0)):
                is_better = block[name] * RANKS >= high
                if is_better or (alike > 0 and block[name] * RANKS >= low):
                    best[title, at] = start + name
                    at += 1
                    alike -= not is_better


@Kernel
def score_links(
    titles: Int16[np.ndarray, "title dim"],
    pairs: Int64[np.ndarray, " pair"],
    ends: Int64[np.ndarray, " occupation"],
    table: tuple[np.ndarray, ...],
    links: tuple[np.ndarray, ...],
    temperature: np.float32,
    sums: Float32[np.ndarray, "4 row"],
    scored: tuple[Shaped[np.ndarray, "title candidate"], ...],
) -> None:
    """Score candidates over all their links, occupation by occupation.

    Args:
        titles: quantized.
        pairs: title · candidates + candidate, in the order of the candidates' occupations.
        ends: where the pairs of each occupation end.
        table: as `StoredVectors.blocks` makes it of the links.
        links: `positions`, `weights`, `starts` and `aliases` of `WeightedVectors`.
        temperature: of the score.
        sums: memory for the products of `TITLES` titles with the largest occupation's rows.
        scored: written: score, position of the closest alias, similarity of the closest link.
    """
    (blocks, block_starts, factors), (positions, weights, starts, aliases) = table, links
    scores, closest, nearest = scored
    each, begin = scores.shape[1], 0
    for name in range(len(ends)):
        end, first, stop = ends[name], starts[name], starts[name + 1]
        weight = weights[first:stop]
        for start in range(begin, end, TITLES):
            last = end - 1
            four = (
                titles[pairs[start] // each],
                titles[pairs[min(start + 1, last)] // each],
                titles[pairs[min(start + 2, last)] // each],
                titles[pairs[min(start + 3, last)] // each],
            )
            for block in range(block_starts[name], block_starts[name + 1]):
                at = LANES * (block - block_starts[name])
                multiply_block(four, blocks[block], sums, at)
            for part in range(min(TITLES, end - start)):
                near, pair = sums[part, : stop - first], pairs[start + part]
                title, candidate = pair // each, pair % each
                for link in range(len(near)):
                    near[link] *= factors[LANES * block_starts[name] + link]
                best, top, score = soft_score_of(near, weight, aliases[name], temperature)
                scores[title, candidate] = score
                closest[title, candidate], nearest[title, candidate] = positions[first + best], top
        begin = end


@inlined
def soft_score_of(
    near: Float32[np.ndarray, " link"],
    weights: Float32[np.ndarray, " link"],
    aliases: int,
    temperature: np.float32,
) -> tuple[int, np.float32, np.float32]:
    """Return the closest alias, the highest similarity of all and the score.

    A similarity that is no number makes the score none.
    """
    top, total, best = near[0], np.float32(0), 0
    for link in range(aliases):
        top = max(top, near[link])
    while best < aliases - 1 and near[best] != top:  # ends on NaN, which is not even itself
        best += 1
    for link in range(aliases, len(near)):
        top = max(top, near[link])
    inverse = np.float32(1) / temperature
    for link in range(len(near)):
        total += weights[link] * power((near[link] - top) * inverse)
    return best, top, top + temperature * np.float32(np.log(total))


@intrinsic  # type: ignore[untyped-decorator]
def multiply_block(typing: Any, titles: Any, block: Any, sums: Any, start: Any) -> Any:  # noqa: ANN401
    """Write the products of titles with the rows of a block to `sums`, from column `start` on.

    A block holds two neighbouring numbers of each of its `LANES` rows, then the next two: so a
    processor that multiplies pairs and adds them up (x86: `vpmaddwd`, `vpdpwssd`) needs no sum
    across a vector. LLVM finds no such instructions in a loop over several titles, and the best
    loop in Python takes twice the time (`docs/LOG.md`). So they are written out for it here; other
    processors get what they have. numba calls this function with types, and it returns how LLVM's
    code is made. The titles are a tuple of arrays of 16 bits, the sums 32-bit floats.
    """
    from numba.core import cgutils, types

    ir = cgutils.ir  # llvmlite's

    def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:  # noqa: ANN401
        int16, int32 = ir.IntType(16), ir.IntType(32)
        shorts, longs = ir.VectorType(int16, 2 * LANES), ir.VectorType(int32, 2 * LANES)
        lanes, floats = ir.VectorType(int32, LANES), ir.VectorType(ir.FloatType(), LANES)
        even, odd = (ir.Constant(lanes, [*range(at, 2 * LANES, 2)]) for at in (0, 1))
        rows = context.make_array(block)(context, builder, values[1])
        stored = ir.VectorType(ir.IntType(block.dtype.bitwidth), 2 * LANES)
        numbers = builder.bitcast(rows.data, stored.as_pointer())
        pairs, totals = [], []
        for part, title in enumerate(titles):
            value = builder.extract_value(values[0], part)
            data = context.make_array(title)(context, builder, value).data
            pairs.append(builder.bitcast(data, int32.as_pointer()))
            totals.append(cgutils.alloca_once_value(builder, ir.Constant(lanes, None)))
        with cgutils.for_range(builder, cgutils.unpack_tuple(builder, rows.shape)[0]) as loop:
            row = builder.load(builder.gep(numbers, [loop.index]), align=1)
            row = builder.sext(row, longs)
            for pair, total in zip(pairs, totals, strict=True):
                both = builder.load(builder.gep(pair, [loop.index]), align=2)
                both = builder.insert_element(ir.Constant(lanes, ir.Undefined), both, int32(0))
                both = builder.shuffle_vector(both, both, ir.Constant(lanes, None))
                product = builder.mul(row, builder.sext(builder.bitcast(both, shorts), longs))
                own = (builder.shuffle_vector(product, product, half) for half in (even, odd))
                builder.store(builder.add(builder.load(total), builder.add(*own)), total)
        table = context.make_array(sums)(context, builder, values[2])
        for part, total in enumerate(totals):
            at = [context.get_constant(types.intp, part), values[3]]
            pointer = cgutils.get_item_pointer(context, builder, sums, table, at)
            made = builder.sitofp(builder.load(total), floats)
            builder.store(made, builder.bitcast(pointer, floats.as_pointer()), align=4)
        return context.get_dummy_value()

    return types.void(titles, block, sums, start), code


@Kernel
def add_shares(
    floats: tuple[np.ndarray, ...],
    bits: tuple[np.ndarray, ...],
    powers: Float32[np.ndarray, " occupation"],
    temperature: np.float32,
    answers: Int64[np.ndarray, " title"],
    groups: tuple[np.ndarray, ...],
    shares: Float64[np.ndarray, "title level"],
) -> None:
    """Write the chance of each answer's code at every level.

    Args:
        floats: the scores of all occupations for each title, and memory for the highest.
        bits: the same memory as integers of 32 bits: floats above 0 are in the order of their bits,
            and the maximum of integers takes one instruction.
        powers: memory for each occupation.
        temperature: of the score.
        answers: the occupation of each title.
        groups: at each level, the code of each occupation, the occupations by their codes, and
            where those of each code begin.
        shares: written.
    """
    (scores, tops), (score_bits, top_bits) = floats, bits
    codes, members, starts = groups
    inverse = np.float32(1) / temperature
    for title in range(len(scores)):
        total, largest = np.float32(0), np.int32(0)
        for name in range(len(powers)):
            largest = max(largest, score_bits[title, name])
        top_bits[title] = largest
        for name in range(len(powers)):
            over = (scores[title, name] - tops[title]) * inverse
            powers[name] = power(max(over, LEAST_POWER))
            total += powers[name]
        for level in range(len(codes)):
            code, share = codes[level, answers[title]], np.float32(0)
            for at in range(starts[level, code], starts[level, code + 1]):
                share += powers[members[level, at]]
            shares[title, level] = share / total


@inlined
def edits(
    letters: UInt32[np.ndarray, " letter"],
    begins: Int64[np.ndarray, " word+1"],
    word: int,
    other_letters: UInt32[np.ndarray, " letter"],
    other_begins: Int64[np.ndarray, " other+1"],
    other: int,
) -> tuple[int, int]:
    """Compare two words.

    Returns:
        How many letters they have in common from their beginning; and 0 if they are equal, 1 if one
        letter more, or another, or two swapped make a word of the other, else 2.
    """
    at, to = begins[word], other_begins[other]
    size, other_size = begins[word + 1] - at, other_begins[other + 1] - to
    least, most, common, rest = min(size, other_size), max(size, other_size), 0, 0
    while common < least and letters[at + common] == other_letters[to + common]:
        common += 1
    last, other_last = at + size - 1, to + other_size - 1
    while rest < least - common and letters[last - rest] == other_letters[other_last - rest]:
        rest += 1
    edited = most - common - rest
    if edited == 2 and least == most:
        at, to = at + common, to + common
        if letters[at] == other_letters[to + 1] and letters[at + 1] == other_letters[to]:
            edited = 1
    return common, min(edited, 2)


@inlined
def are_same_word(
    letters: UInt32[np.ndarray, " letter"],
    begins: Int64[np.ndarray, " word+1"],
    one: int,
    other: int,
) -> bool:
    """Say whether two words are forms or spellings of one.

    They are if one begins with all but the last letters of the other, or if one edit makes one the
    other.
    """
    first, last = begins[one], begins[one + 1] - 1
    other_first, other_last = begins[other], begins[other + 1] - 1
    if letters[first] != letters[other_first] and letters[last] != letters[other_last]:  # most
        return False
    common, edited = edits(letters, begins, one, letters, begins, other)
    least = min(last - first, other_last - other_first) + 1
    most = max(last - first, other_last - other_first) + 1
    if edited == 0:
        return True
    if least < STEM or most - least > STEM:
        return False
    return bool(common >= max(STEM, most - 2) or edited == 1)


@Kernel
def mark_edits(
    letters: UInt32[np.ndarray, " letter"],
    begins: Int64[np.ndarray, " word+1"],
    words: Int64[np.ndarray, " pair"],
    other_letters: UInt32[np.ndarray, " letter"],
    other_begins: Int64[np.ndarray, " other+1"],
    others: Int64[np.ndarray, " pair"],
    marks: Bool[np.ndarray, " pair"],
) -> None:
    """Say of pairs of words whether one edit makes one the other."""
    for pair in range(len(marks)):
        word, other = words[pair], others[pair]
        _, edited = edits(letters, begins, word, other_letters, other_begins, other)
        marks[pair] = edited == 1


@inlined
def lacking_share(words: tuple[np.ndarray, ...], text: int, other: int) -> float:
    """Return the share of the letters of a text's words that have no like in another text."""
    letters, begins, codes, starts = words
    total, lacking = 0, 0
    for at in range(starts[text], starts[text + 1]):
        size, is_there = begins[codes[at] + 1] - begins[codes[at]], False
        for to in range(starts[other], starts[other + 1]):
            if not is_there:
                is_there = are_same_word(letters, begins, codes[at], codes[to])
        total += size
        if not is_there:
            lacking += size
    return lacking / max(total, 1)


@Kernel
def compare_words(
    words: tuple[np.ndarray, ...],
    aliases: Int64[np.ndarray, " title"],
    labels: Int64[np.ndarray, " title"],
    forms: Int64[np.ndarray, " label+1"],
    shares: Float64[np.ndarray, "title 4"],
) -> None:
    """Compare the words of titles with those of an alias and of a label each.

    Args:
        words: letters and begins of the distinct words, codes and starts of the words of texts
            (`models/text/words.py`): first of the titles, then of aliases and forms of labels.
        aliases: the text that is each title's alias.
        labels: the label of each title.
        forms: the text that is the first form of each label; one more at the end.
        shares: written, of letters: of the title that the alias lacks; of the alias that the title
            lacks; of the label in the form of which the title lacks least; and whether the first
            word of the title is that of the alias.
    """
    letters, begins, codes, starts = words
    for title in range(len(aliases)):
        alias, first, last = aliases[title], forms[labels[title]], forms[labels[title] + 1]
        shares[title, 0] = lacking_share(words, title, alias)
        shares[title, 1] = lacking_share(words, alias, title)
        shares[title, 2] = shares[title, 3] = 0.0
        for form in range(first, last):
            share = lacking_share(words, form, title)
            if form == first or share < shares[title, 2]:
                shares[title, 2] = share
        if starts[title] < starts[title + 1] and starts[alias] < starts[alias + 1]:
            one, other = codes[starts[title]], codes[starts[alias]]
            shares[title, 3] = are_same_word(letters, begins, one, other)
