"""Titles are truncated beyond the units that the network reads, and at 1,000 characters."""

from __future__ import annotations

from models.normalizer.long_titles import LONGEST
from models.normalizer.truncated_titles import are_truncated
from models.text.featurizer import Featurizer
from models.text.units import UnitSettings


def test_words_count_where_the_network_reads_words() -> None:
    featurizer = Featurizer.fit(["head baker"], [UnitSettings("word", 2)])
    titles = ["head baker", "head of bakers", "b" * (LONGEST - 1), "b" * LONGEST]
    assert are_truncated(titles, featurizer).tolist() == [False, True, False, True]


def test_no_title() -> None:
    featurizer = Featurizer.fit(["baker"], [UnitSettings("character", 3)])
    assert are_truncated([], featurizer).tolist() == []
    assert are_truncated(["cook", "bak"], featurizer).tolist() == [True, False]
