"""Real inputs that hold a title whole and that the n-gram matcher normalizes to its occupation.

An input holds a title if the title stands in it between word boundaries, both normalized (Neculoiu
et al. 2016, section 4.2, point 3). Words end at white space, a slash and a full stop; other kept
punctuation belongs to its word: "c" is not in "c++", "r" not in "r&d", "net" not in ".net". The
matcher *agrees* with a title if every occupation at its best score holds that title. It is
*ambiguous* if only some do, and *disagrees* if none does. Of several titles with which it agrees
the longest is taken, then the leftmost, then the first in the alphabet.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence

import numpy as np
import polars as pl

from models.reproducibility import Progress
from tasks.evaluation.ngram_matcher import NgramMatcher
from tasks.io.title_readings import without

STARTS = re.compile(r"(?<![^ /])[^ ]")
ENDS = re.compile(r"(?<=[^ ])(?=\.*(?:[ /]|\Z))")
BLOCK = 512


def mined_inputs(
    inputs: pl.DataFrame, titles: pl.DataFrame, taken: Mapping[str, Collection[str]]
) -> tuple[pl.DataFrame, dict[str, int]]:
    """Mine the inputs; distinct ones by normalized title, in the order of their `input_id`.

    Of equal inputs (`SPLIT_INPUTS`) the first with a label stands for all. `titles` (`TITLES`) is
    the matcher's index; `taken`: normalized strings that no mined input may equal, by reason. Out:
    `title, occupation_ids, occupation_size` of the title, `raw_title, variant` (cleaned),
    `normalized, label_agrees` (or null) of the input; and how many inputs each rule left over.
    """
    searched = titles.with_row_index("row").filter(pl.col("normalized") != "").sort("title")
    named = dict(searched.group_by("normalized").agg("row").iter_rows())
    by_label = inputs.filter(pl.col("normalized") != "").sort(
        pl.col("occupation_id").is_null(), "input_id"
    )
    distinct = by_label.unique("normalized", keep="first", maintain_order=True).sort("input_id")
    contained = contained_titles(distinct["normalized"].to_list(), named.keys())
    distinct = distinct.with_columns(contained=pl.Series(contained, dtype=pl.List(pl.String)))
    holds = pl.col("contained").list.len() > 0
    strict = distinct.filter(holds)
    counts = {
        "inputs": len(inputs),
        "distinct": len(distinct),
        "hold_a_title": len(distinct.filter(holds | pl.col("normalized").is_in(list(named)))),
        "hold_it_strictly": len(strict),
    }
    strict, left_out = without_taken(strict, taken)
    occupations = [frozenset(ids) for ids in titles["occupation_ids"]]
    rows, verdicts = list[int | None](), list[str]()
    closest = _closest_titles(strict["cleaned"].to_list(), titles["title"].to_list())
    for names, best in zip(strict["contained"], closest, strict=True):
        candidates = [row for name in names for row in named[name]]
        matched = frozenset[str]().union(*(occupations[row] for row in best))
        row = next((row for row in candidates if matched <= occupations[row]), None)
        partly = any(matched & occupations[row] for row in candidates)
        rows.append(row)
        verdicts.append("agrees" if row is not None else "ambiguous" if partly else "disagrees")
    counts |= left_out | {v: verdicts.count(v) for v in ("agrees", "ambiguous", "disagrees")}
    agreed = strict.with_columns(pl.Series("row", rows, pl.UInt32)).drop_nulls("row")
    mined = (
        titles[agreed["row"].to_list()]
        .select("title", "occupation_ids", "occupation_size")
        .with_columns(agreed["raw_title"], agreed["normalized"], variant=agreed["cleaned"])
        .with_columns(label_agrees=agreed["occupation_id"])
        .with_columns(pl.col("label_agrees").is_in("occupation_ids"))
    )
    return mined, counts


def contained_titles(inputs: Sequence[str], titles: Collection[str]) -> list[list[str]]:
    """Find the titles that each input holds besides itself, all normalized, the longest first."""
    longest = max(map(len, titles), default=0)
    held = (
        dict.fromkeys(run for run in _runs(text, longest) if run in titles and run != text)
        for text in inputs
    )
    return [sorted(names, key=len, reverse=True) for names in held]


def without_taken(
    frame: pl.DataFrame, taken: Mapping[str, Collection[str]]
) -> tuple[pl.DataFrame, dict[str, int]]:
    """Leave out rows whose column `normalized` is taken, and count them by reason."""
    counts = {}
    for reason, strings in taken.items():
        free = without(frame, strings)
        counts[reason] = len(frame) - len(free)
        frame = free
    return frame, counts


def _runs(text: str, longest: int) -> Iterator[str]:
    """Yield all runs of whole words of at most `longest` characters, from left to right."""
    ends = [match.start() for match in ENDS.finditer(text)]
    first = 0
    for match in STARTS.finditer(text):
        start = match.start()
        while first < len(ends) and ends[first] <= start:
            first += 1
        for end in ends[first:]:
            if end - start > longest:
                break
            yield text[start:end]


def _closest_titles(queries: Sequence[str], titles: Sequence[str]) -> Iterator[np.ndarray]:
    """Yield all titles at the n-gram matcher's best score, query by query, one block in memory."""
    if not queries:
        return  # nor need there be titles then
    matcher = NgramMatcher(titles)
    progress = Progress("inputs matched:", len(queries))
    for start in range(0, len(queries), BLOCK):
        scores = matcher.similarities(queries[start : start + BLOCK])
        query, title = np.nonzero(scores == scores.max(axis=1, keepdims=True))
        yield from np.split(title, np.searchsorted(query, np.arange(1, len(scores))))
        progress(start + len(scores))
