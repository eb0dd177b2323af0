"""Pairs from people's verdicts: what is right pulls together, what is wrong pushes apart.

A right verdict is a similar pair of the judged input and the title that it was matched with; a
wrong one a dissimilar pair of the two; a correction, which only mix 4c reads, a similar pair
with a title of the right occupation (Neculoiu et al. 2016, section 4.2; the paper's own has
verdicts only). Where variants meet their occupation (`pairs.variant_positive`), so do right inputs
and corrected ones: any title of it, and any other input of it.
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
    """Similar pairs of confirmed (and corrected) inputs, and rejected ones of wrong answers.

    Each stands in `params.pairs_per_verdict` pairs, so that few verdicts weigh little; of each kind
    there are `most` at most, of which all have the same part. A rejection takes the place of one of
    the `dissimilar_per_similar` dissimilar pairs beside a similar one; the others are strangers of
    source `base`. Rejections beyond stand alone.

    Args:
        strings: schema `STRINGS`, with the rows of role `feedback`.
        verdicts: schema `VERDICTS`; none give no pairs.
        most: similar pairs, and rejections.
        params: section `pairs`.
        rng: consumed in order.
        corrections: whether corrected occupations are learned from.
    """
    rejected = _matched(verdicts.filter(~pl.col("correct")), strings)
    meet = params.variant_positive == "occupation"
    members = members_of(strings, ALIAS, *(["feedback"] if meet else []))
    candidates = _Candidates.of(strings, verdicts, meet=meet, corrections=corrections)
    similar = _Turns.of(candidates.other.size, most, params.pairs_per_verdict, rng)
    apart = _Turns.of(rejected[0].size, most, params.pairs_per_verdict, rng)
    size = block_size(params)
    for start in range(0, max(similar.total, apart.total), size):
        anchors, others = candidates.pairs(similar.places(start, size), rng)
        chosen = apart.places(start, size)
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


class _Turns(NamedTuple):
    """Places 0 … n-1 in a drawn order, again and again until there are `total`."""

    order: np.ndarray
    total: int

    @classmethod
    def of(cls, size: int, most: int, rounds: int, rng: np.random.Generator) -> Self:
        return cls(rng.permutation(size), min(most, rounds * size))

    def places(self, start: int, size: int) -> np.ndarray:
        """Return `size` of them from `start` on, fewer at the end."""
        turns = np.arange(start, max(start, min(start + size, self.total)))
        return self.order[turns % max(1, self.order.size)]


class _Candidates(NamedTuple):
    """Inputs with a right occupation, and for each a run of `pool` that its anchor is drawn from.

    A confirmed input's run is the one title that it was matched with, a corrected one's all titles
    of the right occupation. If they meet, both have all titles and all inputs of it.
    """

    pool: np.ndarray
    start: np.ndarray
    size: np.ndarray
    other: np.ndarray

    @classmethod
    def of(
        cls, strings: pl.DataFrame, verdicts: pl.DataFrame, *, meet: bool, corrections: bool
    ) -> Self:
        right, wrong = verdicts.filter("correct"), verdicts.filter(~pl.col("correct"))
        pinned, free = (right.clear(), right) if meet else (right, right.clear())
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
                (wrong if corrections else wrong.clear())
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
            goes[row] = opinions[others[row]].contradicts(held[anchors[row]])
        if goes.any():
            # each has as many dissimilar pairs as any other, and these stand in the same order
            theirs = np.repeat(goes, (len(table) - goes.size) // goes.size)
            table = table.filter(pa.array(~np.concatenate([goes, theirs])))
        yield table


class _Opinion(NamedTuple):
    """What people said of one string: its right occupation, if known, and wrong ones."""

    right: str | None
    wrong: set[str]

    def contradicts(self, occupations: list[str]) -> bool:
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
        if row["correct"]:
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
