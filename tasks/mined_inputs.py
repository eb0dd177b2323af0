"""Real inputs that hold a title whole and that the n-gram matcher normalizes to its occupation.

Neculoiu et al. 2016, section 4.2, point 3. The matcher *agrees* with a contained title where every
occupation at its best score holds that title: by expectation over ties its success@1 is then 1. It
is *ambiguous* where only some of them do, and *disagrees* where none does. Of several contained
titles with which it agrees the longest stands, of equally long ones the leftmost, of titles that
differ in punctuation alone the first in the alphabet.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl

from models.ngram_matcher import NgramMatcher
from models.titles import normalize_title
from tasks.contained_titles import contained_titles

if TYPE_CHECKING:
    from jaxtyping import Int

BLOCK = 512
SHOWN = 20  # blocks between two lines of progress


class Mined(NamedTuple):
    """`title, occupation_ids, size, variant, label_agrees`, and what each rule left over."""

    inputs: pl.DataFrame
    counts: dict[str, int]


def mined_inputs(
    inputs: pl.DataFrame, titles: pl.DataFrame, taken: Mapping[str, Collection[str]]
) -> Mined:
    """Mine the inputs; distinct ones by normalized title, in the order of their `input_id`.

    Args:
        inputs: schema `INPUTS`, more columns are allowed. Of equal ones the first with a label
            stands for all.
        titles: the matcher's index: `title` (cleaned, distinct), `occupation_ids` and `size`.
        taken: normalized strings that no mined input may equal, under the name of the reason.

    Returns:
        Rows of `titles` with `variant` (the raw input) and `label_agrees` (whether its label is
        one of `occupation_ids`; null without a label).
    """
    named = rows_by_name(titles)
    distinct = _distinct(inputs)
    found = contained_titles(distinct["normalized"].to_list(), named.keys())
    holding = pl.Series([bool(some) for some in found], dtype=pl.Boolean)
    counts = {
        "inputs": len(inputs),
        "distinct": len(distinct),
        "hold_a_title": sum(
            bool(some) or name in named
            for some, name in zip(found, distinct["normalized"], strict=True)
        ),
        "hold_it_strictly": int(holding.sum()),
    }
    strict = distinct.with_columns(contained=pl.Series(found, dtype=pl.List(pl.String)))
    strict = strict.filter(holding)
    for reason, strings in taken.items():
        free = pl.Series([name not in strings for name in strict["normalized"]], dtype=pl.Boolean)
        counts[reason] = int((~free).sum())
        strict = strict.filter(free)
    row, verdicts = _matched(strict, titles, named)
    counts |= {v: verdicts.count(v) for v in ("agrees", "ambiguous", "disagrees")}
    return Mined(_rows(strict, titles, row), counts)


def rows_by_name(titles: pl.DataFrame) -> dict[str, list[int]]:
    """The rows of each normalized title, in the order of the cleaned titles."""
    rows: dict[str, list[int]] = defaultdict(list)
    for row, title in sorted(enumerate(titles["title"]), key=lambda item: item[1]):
        if name := normalize_title(title):
            rows[name].append(row)
    return dict(rows)


def _distinct(inputs: pl.DataFrame) -> pl.DataFrame:
    """One row a normalized title: the first with a label, or the first."""
    names = [normalize_title(raw) for raw in inputs["raw_title"]]
    return (
        inputs.with_columns(normalized=pl.Series(names, dtype=pl.String))
        .filter(pl.col("normalized") != "")
        .sort(pl.col("occupation_id").is_null(), "input_id")
        .unique("normalized", keep="first", maintain_order=True)
        .sort("input_id")
    )


def _matched(
    inputs: pl.DataFrame, titles: pl.DataFrame, named: Mapping[str, list[int]]
) -> tuple[list[int | None], list[str]]:
    """The row of the title that stands for each input, and the matcher's verdict on it."""
    occupations = [frozenset(some) for some in titles["occupation_ids"]]
    rows, verdicts = [], []
    closest = _closest_titles(inputs["raw_title"].to_list(), titles["title"].to_list())
    for contained, best in zip(inputs["contained"], closest, strict=True):
        candidates = [row for name in contained for row in named[name]]
        matched = frozenset[str]().union(*(occupations[row] for row in best))
        row = next((row for row in candidates if matched <= occupations[row]), None)
        some = any(matched & occupations[row] for row in candidates)
        rows.append(row)
        verdicts.append("agrees" if row is not None else "ambiguous" if some else "disagrees")
    return rows, verdicts


def _closest_titles(
    queries: Sequence[str], titles: Sequence[str]
) -> Iterator[Int[np.ndarray, " tied"]]:
    """Of each query all titles at the n-gram matcher's best score; memory is that of one block."""
    if not queries:
        return  # nor need there be titles then
    matcher = NgramMatcher(titles)
    for number, start in enumerate(range(0, len(queries), BLOCK), start=1):
        found = matcher.similarities(queries[start : start + BLOCK])
        query, title = np.nonzero(found == found.max(axis=1, keepdims=True))
        yield from np.split(title, np.searchsorted(query, np.arange(1, len(found))))
        if not number % SHOWN:
            print(f"{start + len(found):,} of {len(queries):,} inputs matched", flush=True)


def _rows(inputs: pl.DataFrame, titles: pl.DataFrame, row: list[int | None]) -> pl.DataFrame:
    chosen = pl.Series("row", row, pl.UInt32)
    agreed = inputs.with_columns(chosen).drop_nulls("row")
    label = agreed["occupation_id"]
    return (
        titles[agreed["row"].to_list()]
        .select("title", "occupation_ids", "size")
        .with_columns(variant=agreed["raw_title"], label=label)
        .with_columns(label_agrees=pl.col("occupation_ids").list.contains(pl.col("label")))
        .with_columns(label_agrees=pl.when(pl.col("label").is_not_null()).then("label_agrees"))
        .drop("label")
    )
