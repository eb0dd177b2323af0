"""The loops of a search, compiled by numba where it is installed and there is much to do.

Compiling takes seconds, so a few titles go through numpy instead, as all do without numba. Both
ways multiply the same whole numbers; powers and their sums differ in the last bits. The sums of a
title have one order, so its bits depend on no other title of its call.
"""

from __future__ import annotations

from functools import cache
from types import SimpleNamespace
from typing import TYPE_CHECKING

import numpy as np

from models.search.compiling import compile_all
from models.search.row_blocks import LANES, multiply_block

if TYPE_CHECKING:
    from jaxtyping import Float32, Float64, Int, Int16, Int32, Shaped

MANY = 2_000
"""Titles for which compiling pays; they take numpy about two seconds."""
BY_FOUR = 4
"""Titles that are multiplied with a block while it is at hand."""
COMPARED_AT_ONCE = 16
"""Occupations of which none is looked at alone where all score less than the best."""
RANKS = np.float32(1 << 16)
"""Scores are ranked in so many steps of one: kernels and numpy differ in the last bits."""
WIDEST = np.float32(1 << 17)
"""Rank of two, more than a score has."""
LEAST_POWER = np.float32(-80)
"""Exponents below it count as this one."""


class Kernels(SimpleNamespace):
    """Compiled functions, by the names of those that were compiled."""


def kernels_for(titles: int) -> Kernels | None:
    """Return the kernels if they pay for so many titles, else None."""
    return _compiled() if titles >= MANY else None


def kernels_at_hand() -> Kernels | None:
    """Return the kernels if they were compiled before: for sums that are the same either way."""
    return _compiled() if _compiled.cache_info().currsize else None


@cache
def _compiled() -> Kernels | None:
    functions = (add_masses, choose_best, score_links, add_shares)
    made = compile_all(functions, (power, soft_score_of), (multiply_block,))
    names = (one.__name__ for one in functions)
    return Kernels(**dict(zip(names, made, strict=True))) if made else None


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


def add_masses(
    sums: Int32[np.ndarray, "title prototype"],
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
                for place in range(width):
                    near = np.float32(total[place]) * step * factor[place] + extra[place]
                    mass[place] += power(near)
                start = end


def choose_best(
    scores: Float32[np.ndarray, "title occupation"], best: Int[np.ndarray, "title candidate"]
) -> None:
    """Write the best occupations of each title by `RANKS`, in their order; of equal ones the first.

    Ranks are halved to the highest that enough of them have.
    """
    most, half = best.shape[1], np.float32(0.5)
    for title in range(len(scores)):
        row, low, high, better = scores[title], -WIDEST, WIDEST, np.int32(0)
        while high - low > 1 and better < most:
            middle, above = np.floor((low + high) * half), np.int32(0)
            for place in range(len(row)):
                above = np.int32(above + (row[place] * RANKS >= middle))
            if above <= most:
                high, better = middle, above
            else:
                low = middle
        alike, at = most - better, 0
        for rank in range(most):
            best[title, rank] = rank  # of scores that are no numbers
        for start in range(0, len(row), COMPARED_AT_ONCE):
            block, above = row[start : start + COMPARED_AT_ONCE], np.int32(0)
            for place in range(len(block)):
                above = np.int32(above + (block[place] * RANKS >= low))
            for place in range(len(block) * (above > 0)):
                is_better = block[place] * RANKS >= high
                if is_better or (alike > 0 and block[place] * RANKS >= low):
                    best[title, at] = start + place
                    at += 1
                    alike -= not is_better


def score_links(
    titles: Int16[np.ndarray, "title dim"],
    candidates: Int[np.ndarray, "title candidate"],
    table: tuple[np.ndarray, ...],
    links: tuple[np.ndarray, ...],
    temperature: np.float32,
    scored: tuple[Shaped[np.ndarray, "title candidate"], ...],
) -> None:
    """Score candidates over all their links, occupation by occupation.

    Args:
        titles: whole.
        candidates: occupations of each title.
        table: as `StoredVectors.blocks` makes it of the links.
        links: `places`, `weights`, `starts` and `aliases` of `WeightedVectors`.
        temperature: of the score.
        scored: written: score, place of the closest alias, similarity of the closest link.
    """
    (blocks, block_starts, factors), (places, weights, starts, aliases) = table, links
    scores, closest, nearest = scored
    each = candidates.shape[1]
    begins = np.zeros(len(aliases) + 1, np.int64)
    for title in range(len(candidates)):
        for name in candidates[title]:
            begins[name + 1] += 1
    begins = np.cumsum(begins)
    pairs, ends = np.empty(candidates.size, np.int64), begins[:-1].copy()
    for title in range(len(candidates)):
        for candidate in range(each):
            name = candidates[title, candidate]
            pairs[ends[name]] = title * each + candidate
            ends[name] += 1
    width = LANES * np.max(block_starts[1:] - block_starts[:-1])
    sums = np.empty((BY_FOUR, width), np.float32)
    for name in range(len(aliases)):
        begin, end = begins[name], begins[name + 1]
        first, stop = starts[name], starts[name + 1]
        own, weight = places[first:stop], weights[first:stop]
        scale = factors[LANES * block_starts[name] :]
        for start in range(begin, end, BY_FOUR):
            last = end - 1
            four = (
                titles[pairs[start] // each],
                titles[pairs[min(start + 1, last)] // each],
                titles[pairs[min(start + 2, last)] // each],
                titles[pairs[min(start + 3, last)] // each],
            )
            for block in range(block_starts[name], block_starts[name + 1]):
                at = LANES * (block - block_starts[name])
                multiply_block(four, blocks[block], sums, at)  # type: ignore[call-arg]  # numba's
            for part in range(min(BY_FOUR, end - start)):
                near, pair = sums[part, : stop - first], pairs[start + part]
                title, candidate = pair // each, pair % each
                for link in range(len(near)):
                    near[link] *= scale[link]
                best, top, score = soft_score_of(near, weight, aliases[name], temperature)
                scores[title, candidate] = score
                closest[title, candidate], nearest[title, candidate] = own[best], top


def soft_score_of(
    near: Float32[np.ndarray, " link"],
    weights: Float32[np.ndarray, " link"],
    aliases: int,
    temperature: np.float32,
) -> tuple[int, np.float32, np.float32]:
    """Return the closest alias, the highest similarity of all and the score."""
    top, total, best = near[0], np.float32(0), 0
    for link in range(aliases):
        top = max(top, near[link])
    while best < aliases - 1 and near[best] != top:  # NaN is not even itself
        best += 1
    for link in range(aliases, len(near)):
        top = max(top, near[link])
    inverse = np.float32(1) / temperature
    for link in range(len(near)):
        total += weights[link] * power((near[link] - top) * inverse)
    return best, top, top + temperature * np.float32(np.log(total))


def add_shares(
    scores: Float32[np.ndarray, "title occupation"],
    temperature: np.float32,
    answers: Int[np.ndarray, " title"],
    codes: Int[np.ndarray, "level occupation"],
    members: Int[np.ndarray, "level occupation"],
    starts: Int[np.ndarray, "level code+1"],
    shares: Float64[np.ndarray, "title level"],
) -> None:
    """Write the chance of each answer's code at every level (`models/search/calibration.py`).

    `members`: occupations by their codes; those of a code begin where `starts` says.
    """
    powers, inverse = np.empty(scores.shape[1], np.float32), np.float32(1) / temperature
    largest = np.zeros(1, np.int32)
    for title in range(len(scores)):
        row, bits, total = scores[title], scores[title].view(np.int32), np.float32(0)
        largest[0] = 0
        for name in range(len(row)):  # floats above 0 are in the order of their bits
            largest[0] = max(largest[0], bits[name])
        top = largest.view(np.float32)[0]
        for name in range(len(row)):
            powers[name] = power(max((row[name] - top) * inverse, LEAST_POWER))
            total += powers[name]
        for level in range(len(codes)):
            code, share = codes[level, answers[title]], np.float32(0)
            for place in range(starts[level, code], starts[level, code + 1]):
                share += powers[members[level, place]]
            shares[title, level] = share / total
