"""Training pairs of a system of the similarity track: pairs that are in no test.

In: schemas `SCORED_PAIRS` and `PARAPHRASE_PARTS`. A pair whose two normalized strings, in either
order, are a test pair of any data set is left out of training and validation: 73 test pairs of SICK
stand among its training pairs as well, and all of STS 2012 `MSRpar` among MSRP's.
"""

from __future__ import annotations

from typing import NamedTuple

import polars as pl

from models.text.titles import normalize_title
from models.training.scored_pairs import ScoredPairs
from tasks.papers.similarity.pair_files import PARAPHRASED, scaled

USED = ("train", "valid")


class TrainingPairs(NamedTuple):
    """The pairs of both parts; scores are in [0, 1], or there are none."""

    train: ScoredPairs
    valid: ScoredPairs
    left_out: dict[str, int]  # split -> rows that are a test pair somewhere


def training_pairs(
    pairs: pl.DataFrame, paraphrases: pl.DataFrame, trained_on: str
) -> TrainingPairs:
    """Select the pairs of one data set, or the paraphrases, less what is a test pair.

    `pairs`: schema `SCORED_PAIRS`, all data sets; `paraphrases`: schema `PARAPHRASE_PARTS`;
    `trained_on`: name of a data set, or `PARAPHRASED`.

    Raises:
        ValueError: there is no such data set, or it has no pair to train on.
    """
    if trained_on == PARAPHRASED:
        rows = paraphrases.select("split", left="head", right="paraphrase")
    else:
        rows = scaled(_of_dataset(pairs, trained_on)).select("split", "left", "right", "score")
    tests = _normalized(pairs.filter(split="test")).select("low", "high")
    kept = _normalized(rows).join(tests, on=["low", "high"], how="anti", maintain_order="left")
    left_out = {
        split: rows.filter(split=split).height - kept.filter(split=split).height for split in USED
    }
    return TrainingPairs(_part(kept, "train"), _part(kept, "valid"), left_out)


def _of_dataset(pairs: pl.DataFrame, trained_on: str) -> pl.DataFrame:
    trainable = pairs.filter(pl.col("split") == "train")["dataset"].unique(maintain_order=True)
    if trained_on not in trainable:
        raise ValueError(
            f"similarity.systems: trained_on {trained_on!r} has no part train; choose "
            f"{', '.join([*trainable, PARAPHRASED])}"
        )
    return pairs.filter((pl.col("dataset") == trained_on) & pl.col("split").is_in(USED))


def _normalized(rows: pl.DataFrame) -> pl.DataFrame:
    """Add the normalized strings of each pair as `low` and `high`, the lower one first."""
    titles = pl.concat([rows["left"], rows["right"]]).unique()
    names = {title: normalize_title(title) for title in titles}
    both = [
        pl.col(side).replace_strict(names, return_dtype=pl.String) for side in ("left", "right")
    ]
    return rows.with_columns(low=pl.min_horizontal(both), high=pl.max_horizontal(both))


def _part(rows: pl.DataFrame, split: str) -> ScoredPairs:
    pairs = rows.filter(split=split)
    scores = pairs["score"].to_list() if "score" in pairs.columns else None
    return ScoredPairs.of(pairs["left"].to_list(), pairs["right"].to_list(), scores)
