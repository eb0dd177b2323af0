"""Titles are truncated beyond the units that the network reads, and at 1,000 characters."""

from __future__ import annotations

import tracemalloc

from served_toy import toy_normalizer

from models.normalizer.answers.truncated_titles import are_truncated
from models.text.featurizer import Featurizer
from models.text.titles import LONGEST
from models.text.units import UnitSettings


def test_words_count_where_the_network_reads_words() -> None:
    featurizer = Featurizer.fit(["head baker"], [UnitSettings("word", 2)])
    titles = ["head baker", "head of bakers", "b" * (LONGEST - 1), "b" * LONGEST]
    assert are_truncated(titles, featurizer).tolist() == [False, True, False, True]


def test_no_title() -> None:
    featurizer = Featurizer.fit(["baker"], [UnitSettings("character", 3)])
    assert are_truncated([], featurizer).tolist() == []
    assert are_truncated(["cook", "bak"], featurizer).tolist() == [True, False]


def test_a_long_title_is_answered_in_bounded_memory_and_flagged() -> None:
    """Before, two million letters that NFKC makes 18 each took 27 s and 3.1 GB."""
    normalizer = toy_normalizer()
    tail = " and more" * 10**5
    tracemalloc.start()
    answers = [*normalizer.predict(["\ufdfa" * 2 * 10**6, f"head baker{tail}", "baker"])]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**26
    assert [answer.reason for answer in answers[:1]] == ["unknown letters"]
    assert answers[1].seniority == ["head"] and answers[1].truncated
    assert answers[2].occupation_id == "baker" and not answers[2].truncated
