"""Pairs from people's verdicts: correct ones pull together, incorrect ones push apart.

A correct verdict is a similar pair of the judged input and its matched title; an incorrect one a
dissimilar pair of the two; a correction, which only the mix `corrections` reads, a similar pair
with a title of the correct occupation (Neculoiu et al. 2016, section 4.2; the paper has verdicts
only). If `pairs.variant_positive` is `occupation`, correct and corrected inputs are paired with any
title and any other input of their occupation.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, Self

import numpy as np
import polars as pl
import pyarrow as pa

from tasks.io.title_readings import normalized
from tasks.pipeline.pairs.drawn_pairs import members_of
from tasks.pipeline.pairs.pair_blocks import block, block_size
from tasks.pipeline.pairs.params import PairsParams
from tasks.pipeline.pairs.strings_table import ALIAS, ids_by_title, known_occupation


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
    similar = _repeated_order(candidates.other.size, most, params.pairs_per_verdict, rng)
    rejections = _repeated_order(rejected[0].size, most, params.pairs_per_verdict, rng)
    size = block_size(params)
    for start in range(0, max(similar.size, rejections.size), size):
        anchors, others = candidates.pairs(similar[start : start + size], rng)
        chosen = rejections[start : start + size]
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


def _repeated_order(size: int, most: int, repetitions: int, rng: np.random.Generator) -> np.ndarray:
    """Return places 0 … `size` - 1 in a drawn order, `repetitions` times, but `most` at most."""
    return np.resize(rng.permutation(size), min(most, repetitions * size))


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
        pinned = verdicts.clear() if meet else verdicts.filter("correct")
        free = verdicts if meet else verdicts.filter(~pl.col("correct"))
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
        joined = (
            free.sort(~pl.col("correct"), maintain_order=True)
            .with_columns(occupation_ids=known_occupation(corrections=corrections))
            .drop_nulls("occupation_ids")
            .unique(["raw_title", "occupation_ids"], maintain_order=True)
            .join(runs, on="occupation_ids", maintain_order="left")
        )
        before = np.arange(matched.size)
        return cls(
            np.concatenate([matched, owned["string_id"].to_numpy()]).astype(np.int64),
            np.concatenate([before, joined["start"].to_numpy() + matched.size]).astype(np.int64),
            np.concatenate([np.ones_like(before), joined["size"].to_numpy()]).astype(np.int64),
            np.concatenate([confirmed, _ids(joined["cleaned"], strings, "feedback")]),
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
    matched, judged = verdicts["matched_title"], verdicts["cleaned"]
    return _ids(matched, strings, ALIAS), _ids(judged, strings, "feedback")


def _ids(titles: pl.Series, strings: pl.DataFrame, role: str) -> np.ndarray:
    ids = ids_by_title(strings, role)
    return np.array([ids[title] for title in titles], np.int64)


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
    held = strings.select(anchor_id="string_id", held="occupation_ids")
    contradicted = (
        pl.when(pl.col("correct").is_not_null())
        .then(~pl.col("correct").is_in("held"))
        .otherwise(pl.col("incorrect").list.set_intersection("held").list.len() > 0)
    )
    for table in blocks:
        similar = pl.DataFrame(table).filter("similar")  # a block begins with its similar pairs
        mined = similar.with_row_index("row").filter(pl.col("source") == "extra_words")
        judged = mined.join(views, on="other_id").join(held, on="anchor_id")
        goes = np.zeros(len(similar), bool)
        goes[judged.filter(contradicted)["row"].to_numpy()] = True
        if goes.any():
            # each has as many dissimilar pairs as any other, and these stand in the same order
            theirs = np.repeat(goes, (len(table) - goes.size) // goes.size)
            table = table.filter(pa.array(~np.concatenate([goes, theirs])))
        yield table


def _views(strings: pl.DataFrame, verdicts: pl.DataFrame, *, corrections: bool) -> pl.DataFrame:
    """Return people's verdicts on mined strings: `other_id, correct, incorrect`.

    `correct` is the correct occupation, if known, and `incorrect` lists incorrect ones.
    """
    views = verdicts.group_by("normalized").agg(
        correct=known_occupation(corrections=corrections).drop_nulls().last(),
        incorrect=pl.col("predicted_occupation_id").filter(~pl.col("correct")),
    )
    mined = strings.filter(pl.col("role") == "extra_words")
    return mined.select(normalized(mined["title"]), other_id="string_id").join(
        views, on="normalized"
    )
