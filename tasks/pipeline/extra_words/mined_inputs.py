"""Real inputs that hold a title whole and that the n-gram matcher normalizes to its occupation.

Neculoiu et al. 2016, section 4.2, point 3. The matcher *agrees* with a title if every occupation at
its best score holds that title (its success@1, by expectation over ties, is then 1). It is
*ambiguous* if only some do, and *disagrees* if none does. Of several titles with which it agrees
the longest is taken, then the leftmost, then the first in the alphabet.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl

from models.reproducibility.progress import Progress
from models.text.ngram_matcher import NgramMatcher
from tasks.io.title_readings import without
from tasks.pipeline.extra_words.contained_titles import contained_titles

if TYPE_CHECKING:
    from jaxtyping import Int

BLOCK = 512


class Mined(NamedTuple):
    """Mined inputs, and what each rule left over.

    `inputs` has `title, occupation_ids, occupation_size` of the title, and `raw_title, variant`
    (cleaned), `normalized, label_agrees` of the input.
    """

    inputs: pl.DataFrame
    counts: dict[str, int]


def mined_inputs(
    inputs: pl.DataFrame, titles: pl.DataFrame, taken: Mapping[str, Collection[str]]
) -> Mined:
    """Mine the inputs; distinct ones by normalized title, in the order of their `input_id`.

    Of equal inputs (schema `SPLIT_INPUTS`) the first with a label stands for all. `titles` (schema
    `TITLES`) is the matcher's index; `taken` has normalized strings that no mined input may equal,
    by reason. `label_agrees` says whether the label is one of `occupation_ids`, null without a
    label.
    """
    searched = titles.with_row_index("row").filter(pl.col("normalized") != "").sort("title")
    named = dict(searched.group_by("normalized").agg("row").iter_rows())
    distinct = _distinct(inputs)
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
    for reason, strings in taken.items():
        free = without(strict, strings)
        counts[reason] = len(strict) - len(free)
        strict = free
    row, verdicts = _matched(strict, titles, named)
    counts |= {v: verdicts.count(v) for v in ("agrees", "ambiguous", "disagrees")}
    return Mined(_rows(strict, titles, row), counts)


def _distinct(inputs: pl.DataFrame) -> pl.DataFrame:
    """Return one row a normalized title: the first with a label, or the first."""
    return (
        inputs.filter(pl.col("normalized") != "")
        .sort(pl.col("occupation_id").is_null(), "input_id")
        .unique("normalized", keep="first", maintain_order=True)
        .sort("input_id")
    )


def _matched(
    inputs: pl.DataFrame, titles: pl.DataFrame, named: Mapping[str, list[int]]
) -> tuple[list[int | None], list[str]]:
    """Return the row of the title that stands for each input, and the matcher's verdict on it."""
    occupations = [frozenset(ids) for ids in titles["occupation_ids"]]
    rows, verdicts = [], []
    closest = _closest_titles(inputs["cleaned"].to_list(), titles["title"].to_list())
    for contained, best in zip(inputs["contained"], closest, strict=True):
        candidates = [row for name in contained for row in named[name]]
        matched = frozenset[str]().union(*(occupations[row] for row in best))
        row = next((row for row in candidates if matched <= occupations[row]), None)
        partly = any(matched & occupations[row] for row in candidates)
        rows.append(row)
        verdicts.append("agrees" if row is not None else "ambiguous" if partly else "disagrees")
    return rows, verdicts


def _closest_titles(
    queries: Sequence[str], titles: Sequence[str]
) -> Iterator[Int[np.ndarray, " tied"]]:
    """Of each query all titles at the n-gram matcher's best score; memory is that of one block."""
    if not queries:
        return  # nor need there be titles then
    matcher = NgramMatcher(titles)
    progress = Progress("inputs matched:", len(queries))
    for start in range(0, len(queries), BLOCK):
        scores = matcher.similarities(queries[start : start + BLOCK])
        query, title = np.nonzero(scores == scores.max(axis=1, keepdims=True))
        yield from np.split(title, np.searchsorted(query, np.arange(1, len(scores))))
        progress(start + len(scores))


def _rows(inputs: pl.DataFrame, titles: pl.DataFrame, row: list[int | None]) -> pl.DataFrame:
    agreed = inputs.with_columns(pl.Series("row", row, pl.UInt32)).drop_nulls("row")
    return (
        titles[agreed["row"].to_list()]
        .select("title", "occupation_ids", "occupation_size")
        .with_columns(agreed["raw_title"], agreed["normalized"], variant=agreed["cleaned"])
        .with_columns(label_agrees=agreed["occupation_id"])
        .with_columns(pl.col("label_agrees").is_in("occupation_ids"))
    )
