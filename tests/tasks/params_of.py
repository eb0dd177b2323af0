"""Sections of `params.yaml` that several tests need, small; keywords change their values."""

from __future__ import annotations

from typing import Any

from tasks.pairs import PairsParams
from tasks.synonyms import SynonymsParams


def pairs_params(**changes: Any) -> PairsParams:
    """Section `pairs`: few rounds, and blocks of 204 similar pairs with four others each."""
    shares = {"typo": 0.5, "synonym": 0.3, "extra_words": 0.3, "feedback": 0.2}
    values = {"rounds": 3, "dissimilar_per_similar": 4, "shares": shares, "row_group": 1024}
    return PairsParams(**values | {"outranked": "dropped"} | changes)


def synonyms_params(**changes: Any) -> SynonymsParams:
    """Section `synonyms`: the paper's rules, and a test of any size."""
    values = {"reader": "table", "file": "", "max_shared_words": 2, "max_part_words": 2}
    values |= {"min_contexts": 1, "test_share": 0.25, "max_test": 900, "probe_titles": 0}
    return SynonymsParams(**values | {"max_rejected_share": 0.0} | changes)
