"""What the paper's words would take if they were read otherwise (Neculoiu et al. 2016, 4.2)."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import combinations

import numpy as np
import polars as pl

from tasks.augment.induction import SPECIAL
from tasks.synonyms import SynonymsParams

LETTERS_ONLY = re.compile(SPECIAL.replace(r"\p{L}\p{M}\p{N}", r"\w"))


def shared_anywhere(titles: pl.DataFrame, params: SynonymsParams) -> int:
    """Count induced pairs if two titles may share their words in any place.

    The pipeline takes words that both begin with, or both end with. A complement is then what is
    left of a title, in its order, though it may have stood apart.

    Args:
        titles: schema `TITLES`.
        params: section `synonyms`.
    """
    taxonomy = set(titles["normalized"])
    owned: defaultdict[str, set[str]] = defaultdict(set)
    training = titles.filter(split="train").explode("occupation_ids")
    for occupation, title in training.select("occupation_ids", "normalized").iter_rows():
        owned[occupation].add(title)
    accepted = set()
    for occupation, own in owned.items():
        for pair in combinations(sorted(own), 2):
            parts = sorted(_complements(*pair, params.max_shared_words))
            if parts and not any(_refused(part, taxonomy, params) for part in parts):
                accepted.add((occupation, *parts))
    return len(accepted)


def changed_share(titles: list[str], share: float) -> float:
    """Return the share of characters that change where each title has one change at least."""
    lengths = np.array([len(title) for title in titles])
    return float(np.maximum(1, np.rint(share * lengths)).sum() / lengths.sum())


def _complements(left: str, right: str, most: int) -> Iterator[str]:
    """Yield what is left of each title without their shared words; nothing if one has no more."""
    titles = left.split(), right.split()
    shared = Counter(titles[0]) & Counter(titles[1])
    if 1 <= shared.total() <= most:
        parts = [_without(words, shared) for words in titles]
        yield from parts if all(parts) else []


def _without(words: list[str], shared: Counter[str]) -> str:
    left, kept = Counter(shared), []
    for word in words:
        if left[word]:
            left[word] -= 1
        else:
            kept.append(word)
    return " ".join(kept)


def _refused(part: str, taxonomy: set[str], params: SynonymsParams) -> bool:
    too_long = part.count(" ") >= params.max_part_words
    return part in taxonomy or too_long or bool(LETTERS_ONLY.search(part))
