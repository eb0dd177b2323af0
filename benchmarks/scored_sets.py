"""Publishers' pairs of strings as plain lists: what studies of pairs train on and are judged by.

Scores are brought to [0, 1] from the range in which people gave them. Pairs are told to be the same
by their two normalized strings, whichever way round. Nothing is drawn or trained here.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import compress
from typing import NamedTuple

import polars as pl
import torch

from models.similarity import unscaled
from models.titles import normalize_title
from tasks.readers.scored_pairs import score_range


class StringPairs(NamedTuple):
    """Pairs of strings as received, with scores in [0, 1]; paraphrases have none."""

    left: list[str]
    right: list[str]
    scores: list[float] | None = None


def string_pairs(frame: pl.DataFrame) -> StringPairs:
    """A frame of one data set (columns of `SCORED_PAIRS`) in its order, scores in [0, 1]."""
    given = torch.tensor(frame["score"].to_list(), dtype=torch.float64)
    scores = unscaled(given, *score_range(frame["dataset"][0]))
    return StringPairs(frame["left"].to_list(), frame["right"].to_list(), scores.tolist())


def kept(pairs: StringPairs, keep: Sequence[bool]) -> StringPairs:
    """Those of `pairs` whose place in `keep` is true, in their order."""
    left, right = (list(compress(strings, keep)) for strings in pairs[:2])
    return StringPairs(
        left, right, None if pairs.scores is None else list(compress(pairs.scores, keep))
    )


def without(pairs: StringPairs, others: Collection[frozenset[str]]) -> StringPairs:
    """Those of `pairs` that are not among `others`, which `keys` of other pairs gives."""
    return kept(pairs, [key not in others for key in keys(pairs)])


def keys(pairs: StringPairs) -> list[frozenset[str]]:
    """What tells each pair from others: its normalized strings, in no order."""
    left, right = (map(normalize_title, strings) for strings in pairs[:2])
    return [frozenset(both) for both in zip(left, right, strict=True)]
