"""Pairs from people's verdicts: what is right pulls together, what is wrong pushes apart.

A right verdict is a similar pair of the judged input and the title that it was matched with; a
wrong one a dissimilar pair of the two; a correction, which only mix 4c reads, a similar pair
with a title of the right occupation (Neculoiu et al. 2016, section 4.2; the paper's own has
verdicts only).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np
import polars as pl
import pyarrow as pa

from tasks.files.sources import PAIR_SOURCES
from tasks.files.titles import normalized
from tasks.pairing.memberships import Memberships
from tasks.pairing.pair_blocks import block, block_size, columns
from tasks.pairing.strings_table import ids_by_title

if TYPE_CHECKING:
    from tasks.pairs import PairsParams


def feedback_pairs(
    strings: pl.DataFrame,
    verdicts: pl.DataFrame,
    members: Memberships,
    similar: int,
    params: PairsParams,
    rng: np.random.Generator,
    *,
    corrections: bool,
) -> Iterator[pa.Table]:
    """`similar` pairs of confirmed (and corrected) inputs, and as many rejected ones.

    One of the `dissimilar_per_similar` dissimilar pairs beside each similar one is a rejection, if
    there is any; the others are strangers of source `base`. Without a confirmed or corrected input
    there are rejections only.

    Args:
        strings: schema `STRINGS`, with the rows of role `feedback`.
        verdicts: schema `VERDICTS`; none give no pairs.
        members: of the aliases.
        similar: how many.
        params: section `pairs`.
        rng: consumed in order.
        corrections: whether corrected occupations are learned from.
    """
    rejected = _matched(verdicts.filter(~pl.col("right")), strings)
    candidates = _Candidates.of(strings, verdicts, corrections=corrections)
    left = similar if candidates.other.size or rejected[0].size else 0
    while left:
        size = min(left, block_size(params))
        anchors, others = candidates.draw(size, rng)
        chosen = rng.integers(0, rejected[0].size, size if rejected[0].size else 0)
        apart = max(0, params.dissimilar_per_similar - bool(chosen.size))
        yield block(
            (anchors, others),
            np.repeat(anchors, apart),
            "feedback",
            members,
            rng,
            (rejected[0][chosen], rejected[1][chosen]),
        )
        left -= size


class _Candidates(NamedTuple):
    """Inputs with a right occupation, and for each a run of `pool` that its anchor is drawn from.

    A confirmed input's run is the one title that it was matched with, a corrected one's all titles
    of the right occupation.
    """

    pool: np.ndarray
    start: np.ndarray
    size: np.ndarray
    other: np.ndarray

    @classmethod
    def of(cls, strings: pl.DataFrame, verdicts: pl.DataFrame, *, corrections: bool) -> Self:
        matched, confirmed = _matched(verdicts.filter("right"), strings)
        owned = (
            strings.filter(pl.col("role") == "alias")
            .explode("occupation_ids")
            .sort("occupation_ids", "string_id")
            .with_row_index("place")
        )
        runs = owned.group_by("occupation_ids", maintain_order=True).agg(
            pl.col("place").min().alias("start"), pl.len().alias("size")
        )
        wrong = verdicts.filter(~pl.col("right")).drop_nulls("corrected_occupation_id")
        corrected = wrong.unique(
            ["raw_title", "corrected_occupation_id"], maintain_order=True
        ).join(
            runs,
            left_on="corrected_occupation_id",
            right_on="occupation_ids",
            maintain_order="left",
        )
        corrected = corrected if corrections else corrected.clear()
        before = np.arange(matched.size)
        return cls(
            np.concatenate([matched, owned["string_id"].to_numpy()]).astype(np.int64),
            np.concatenate([before, corrected["start"].to_numpy() + matched.size]).astype(np.int64),
            np.concatenate([np.ones_like(before), corrected["size"].to_numpy()]).astype(np.int64),
            np.concatenate([confirmed, _ids(corrected["cleaned"], strings)]),
        )

    def draw(self, count: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Anchors and others of `count` pairs; none if there is no candidate."""
        drawn = rng.integers(0, self.other.size, count if self.other.size else 0)
        place = self.start[drawn] + rng.integers(0, self.size[drawn])
        return self.pool[place], self.other[drawn]


def _matched(verdicts: pl.DataFrame, strings: pl.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Return string ids of the matched titles and of the judged inputs."""
    aliases = ids_by_title(strings, "alias")
    titles = [aliases[title] for title in verdicts["matched_title"]]
    return np.array(titles, np.int64), _ids(verdicts["cleaned"], strings)


def _ids(titles: pl.Series, strings: pl.DataFrame) -> np.ndarray:
    known = ids_by_title(strings, "feedback")
    return np.array([known[title] for title in titles], np.int64)


def without_outranked(
    blocks: Iterator[pa.Table],
    strings: pl.DataFrame,
    verdicts: pl.DataFrame,
    *,
    corrections: bool,
) -> Iterator[pa.Table]:
    """`blocks` less the mined pairs that a verdict on the same string calls wrong.

    A pair of source `extra_words` goes when people gave its string an occupation that its title
    does not have or, where they gave none, called an occupation of its title wrong. Its dissimilar
    pairs go with it, so that the ratio stays.

    Args:
        blocks: of the stage before.
        strings: schema `STRINGS`, of the stage before.
        verdicts: schema `VERDICTS`.
        corrections: whether corrected occupations are known to this stage.
    """
    opinions = _opinions(strings, verdicts, corrections=corrections)
    judged = np.zeros(len(strings), bool)
    judged[list(opinions)] = True
    held = strings["occupation_ids"].to_list()
    mined = PAIR_SOURCES.index("extra_words")
    for table in blocks:
        codes, similar = columns(table)
        anchors, others = table["anchor_id"].to_numpy(), table["other_id"].to_numpy()
        goes = np.zeros(similar.sum(), bool)  # a block begins with its similar pairs
        for row in np.flatnonzero(judged[others] & (codes == mined) & (similar == 1)):
            goes[row] = opinions[others[row]].outranks(held[anchors[row]])
        if goes.any():
            # each has as many dissimilar pairs as any other, and these stand in the same order
            theirs = np.repeat(goes, (len(table) - goes.size) // goes.size)
            table = table.filter(pa.array(~np.concatenate([goes, theirs])))
        yield table


class _Opinion(NamedTuple):
    """What people said of one string: its right occupation, if known, and wrong ones."""

    right: str | None
    wrong: set[str]

    def outranks(self, occupations: list[str]) -> bool:
        """Tell whether the string is no variant of a title of `occupations`."""
        if self.right is not None:
            return self.right not in occupations
        return not self.wrong.isdisjoint(occupations)


def _opinions(
    strings: pl.DataFrame, verdicts: pl.DataFrame, *, corrections: bool
) -> dict[int, _Opinion]:
    """By `string_id`, of the mined strings that people judged."""
    right: dict[str, str] = {}
    wrong: dict[str, set[str]] = {}
    for row in verdicts.iter_rows(named=True):
        title = row["normalized"]
        if row["right"]:
            right[title] = row["predicted_occupation_id"]
        else:
            wrong.setdefault(title, set()).add(row["predicted_occupation_id"])
            if corrections and row["corrected_occupation_id"] is not None:
                right[title] = row["corrected_occupation_id"]
    mined = strings.filter(pl.col("role") == "extra_words").select("string_id", "title")
    named = zip(mined["string_id"], normalized(mined["title"]), strict=True)
    return {
        number: _Opinion(right.get(name), wrong.get(name, set()))
        for number, name in named
        if name in right or name in wrong
    }
