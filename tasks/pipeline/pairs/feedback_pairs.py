"""Pairs from people's verdicts: correct ones pull together, incorrect ones push apart.

A correct verdict is a similar pair of the judged input and its matched title; an incorrect one a
dissimilar pair of the two; a correction, which only the mix `corrections` reads, a similar pair
with a title of the correct occupation (Neculoiu et al. 2016, section 4.2; the paper has verdicts
only). If `pairs.variant_positive` is `occupation`, correct and corrected inputs are paired with any
title and any other input of their occupation.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np
import polars as pl
import pyarrow as pa

from tasks.io.mixes import PAIR_SOURCES
from tasks.io.title_readings import normalized
from tasks.pipeline.pairs.drawn_pairs import members_of
from tasks.pipeline.pairs.pair_blocks import block, block_size, columns
from tasks.pipeline.pairs.strings_table import ALIAS, ids_by_title

if TYPE_CHECKING:
    from tasks.pipeline.pairs.params import PairsParams


def feedback_pairs(
    strings: pl.DataFrame,
    verdicts: pl.DataFrame,
    most: int,
    params: PairsParams,
    rng: np.random.Generator,
    *,
    corrections: bool,
) -> Iterator[pa.Table]:
    """Yield similar pairs of confirmed (and corrected) inputs, and rejections.

    Each stands in `params.pairs_per_verdict` pairs, so that few verdicts weigh little; of each kind
    there are `most` at most, shared equally. A rejection, of an incorrect answer, replaces one of
    the `dissimilar_per_similar` pairs beside a similar one; the others are strangers of source
    `base`. Further rejections stand alone. `strings` (schema `STRINGS`) has the rows of role
    `feedback`; `verdicts` has schema `VERDICTS`.
    """
    rejected = _matched(verdicts.filter(~pl.col("correct")), strings)
    meet = params.variant_positive == "occupation"
    members = members_of(strings, ALIAS, *(["feedback"] if meet else []))
    candidates = _Candidates.of(strings, verdicts, meet=meet, corrections=corrections)
    similar = _RepeatedOrder.of(candidates.other.size, most, params.pairs_per_verdict, rng)
    rejections = _RepeatedOrder.of(rejected[0].size, most, params.pairs_per_verdict, rng)
    size = block_size(params)
    for start in range(0, max(similar.total, rejections.total), size):
        anchors, others = candidates.pairs(similar.places(start, size), rng)
        chosen = rejections.places(start, size)
        strangers = np.full(anchors.size, params.dissimilar_per_similar)
        strangers[: chosen.size] -= 1
        yield block(
            (anchors, others),
            np.repeat(anchors, strangers.clip(0)),
            "feedback",
            members,
            rng,
            (rejected[0][chosen], rejected[1][chosen]),
        )


class _RepeatedOrder(NamedTuple):
    """Places 0 … n-1 in a drawn order, again and again until there are `total`."""

    order: np.ndarray
    total: int

    @classmethod
    def of(cls, size: int, most: int, repetitions: int, rng: np.random.Generator) -> Self:
        return cls(rng.permutation(size), min(most, repetitions * size))

    def places(self, start: int, size: int) -> np.ndarray:
        """Return `size` of them from `start` on, fewer at the end."""
        positions = np.arange(start, max(start, min(start + size, self.total)))
        return self.order[positions % max(1, self.order.size)]


class _Candidates(NamedTuple):
    """Inputs with a correct occupation, and for each a run of `pool` that its anchor is drawn from.

    A confirmed input's run is the one title that it was matched with, a corrected one's all titles
    of the correct occupation. If they meet, both have all titles and all inputs of it.
    """

    pool: np.ndarray
    start: np.ndarray
    size: np.ndarray
    other: np.ndarray

    @classmethod
    def of(
        cls, strings: pl.DataFrame, verdicts: pl.DataFrame, *, meet: bool, corrections: bool
    ) -> Self:
        correct, incorrect = verdicts.filter("correct"), verdicts.filter(~pl.col("correct"))
        pinned, free = (correct.clear(), correct) if meet else (correct, correct.clear())
        matched, confirmed = _matched(pinned, strings)
        owned = (
            strings.filter(pl.col("role").is_in([ALIAS, "feedback"] if meet else [ALIAS]))
            .explode("occupation_ids")
            .sort("occupation_ids", "string_id")
            .with_row_index("place")
        )
        runs = owned.group_by("occupation_ids", maintain_order=True).agg(
            pl.col("place").min().alias("start"), pl.len().alias("size")
        )
        named = pl.concat(
            [
                free,
                (incorrect if corrections else incorrect.clear())
                .with_columns(predicted_occupation_id="corrected_occupation_id")
                .drop_nulls("predicted_occupation_id"),
            ]
        ).unique(["raw_title", "predicted_occupation_id"], maintain_order=True)
        joined = named.join(
            runs,
            left_on="predicted_occupation_id",
            right_on="occupation_ids",
            maintain_order="left",
        )
        before = np.arange(matched.size)
        return cls(
            np.concatenate([matched, owned["string_id"].to_numpy()]).astype(np.int64),
            np.concatenate([before, joined["start"].to_numpy() + matched.size]).astype(np.int64),
            np.concatenate([np.ones_like(before), joined["size"].to_numpy()]).astype(np.int64),
            np.concatenate([confirmed, _ids(joined["cleaned"], strings)]),
        )

    def pairs(self, chosen: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Return anchors, drawn from the runs, and others of the chosen candidates.

        One that draws itself gives no pair.
        """
        place = self.start[chosen] + rng.integers(0, self.size[chosen])
        anchors, others = self.pool[place], self.other[chosen]
        kept = anchors != others
        return anchors[kept], others[kept]


def _matched(verdicts: pl.DataFrame, strings: pl.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Return string ids of the matched titles and of the judged inputs."""
    aliases = ids_by_title(strings, "alias")
    titles = [aliases[title] for title in verdicts["matched_title"]]
    return np.array(titles, np.int64), _ids(verdicts["cleaned"], strings)


def _ids(titles: pl.Series, strings: pl.DataFrame) -> np.ndarray:
    known = ids_by_title(strings, "feedback")
    return np.array([known[title] for title in titles], np.int64)


def without_contradicted(
    blocks: Iterator[pa.Table], strings: pl.DataFrame, verdicts: pl.DataFrame, *, corrections: bool
) -> Iterator[pa.Table]:
    """Yield `blocks` less the mined pairs that a verdict on the same string contradicts.

    A pair of source `extra_words` goes if people gave its string an occupation that its title does
    not have or, where they gave none, called an occupation of its title incorrect. Its dissimilar
    pairs go too, so that the ratio stays. `strings` (schema `STRINGS`) and `blocks` are of the mix
    before.
    """
    views = _views(strings, verdicts, corrections=corrections)
    judged = np.zeros(len(strings), bool)
    judged[list(views)] = True
    held = strings["occupation_ids"].to_list()
    mined = PAIR_SOURCES.index("extra_words")
    for table in blocks:
        codes, similar = columns(table)
        anchors, others = table["anchor_id"].to_numpy(), table["other_id"].to_numpy()
        goes = np.zeros(similar.sum(), bool)  # a block begins with its similar pairs
        for row in np.flatnonzero(judged[others] & (codes == mined) & (similar == 1)):
            goes[row] = views[others[row]].contradicts(held[anchors[row]])
        if goes.any():
            # each has as many dissimilar pairs as any other, and these stand in the same order
            theirs = np.repeat(goes, (len(table) - goes.size) // goes.size)
            table = table.filter(pa.array(~np.concatenate([goes, theirs])))
        yield table


class _View(NamedTuple):
    """People's verdict on a string: its correct occupation, if known, and incorrect ones."""

    correct: str | None
    incorrect: set[str]

    def contradicts(self, occupations: list[str]) -> bool:
        """Tell whether the string is no variant of a title of `occupations`."""
        if self.correct is not None:
            return self.correct not in occupations
        return not self.incorrect.isdisjoint(occupations)


def _views(strings: pl.DataFrame, verdicts: pl.DataFrame, *, corrections: bool) -> dict[int, _View]:
    """By `string_id`, of the mined strings that people judged."""
    correct: dict[str, str] = {}
    incorrect: dict[str, set[str]] = {}
    for row in verdicts.iter_rows(named=True):
        title = row["normalized"]
        if row["correct"]:
            correct[title] = row["predicted_occupation_id"]
        else:
            incorrect.setdefault(title, set()).add(row["predicted_occupation_id"])
            if corrections and row["corrected_occupation_id"] is not None:
                correct[title] = row["corrected_occupation_id"]
    mined = strings.filter(pl.col("role") == "extra_words").select("string_id", "title")
    named = zip(mined["string_id"], normalized(mined["title"]), strict=True)
    return {
        number: _View(correct.get(name), incorrect.get(name, set()))
        for number, name in named
        if name in correct or name in incorrect
    }
