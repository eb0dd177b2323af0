"""Titles are truncated beyond the units that the network reads, and at 1,000 characters."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from served_toy import toy_normalizer

from models.serving.embed import Bag
from models.text.featurizer import Featurizer
from models.text.titles import LONGEST
from models.text.units import UnitSettings


def bag_of(units: UnitSettings, titles: list[str]) -> Bag:
    """A bag of random rows of bytes."""
    featurizer = Featurizer.fit(titles, [units])
    rows = np.random.default_rng(1).integers(-127, 127, (featurizer.sizes[0], 4), np.int8)
    scales = np.linspace(0.5, 1, len(rows), dtype=np.float32)
    return Bag(featurizer, rows, scales, np.full(4, 0.25, np.float32), tanh=False)


def test_words_count_where_the_network_reads_words() -> None:
    titles = ["head baker", "head of bakers", "b" * (LONGEST - 1), "b" * LONGEST]
    truncated = bag_of(UnitSettings("word", 2), ["head baker"]).embed(titles)[1]
    assert truncated.tolist() == [False, True, False, True]


def test_no_title() -> None:
    bag = bag_of(UnitSettings("character", 3), ["baker"])
    vectors, truncated = bag.embed([])
    assert vectors.shape == (0, 4) and truncated.tolist() == []
    assert bag.embed(["cook", "bak"])[1].tolist() == [True, False]


@given(st.lists(st.text("abc +", max_size=9), min_size=1, max_size=6))
def test_a_title_has_the_sum_of_the_rows_of_its_units(titles: list[str]) -> None:
    """To unit norm, with the same bits alone and among others."""
    bag = bag_of(UnitSettings("subword", 3, (2, 3)), ["ab", "cab+", "abc a"])
    made = bag(titles)
    ids = bag.featurizer(titles).streams[0].padded()
    lengths = bag.featurizer(titles).streams[0].lengths
    for row, title in enumerate(titles):
        own = ids[row, : lengths[row]]
        total = (bag.rows[own] * bag.scales[own, None].astype(np.float64)).sum(axis=0) + 0.25
        assert made[row] == pytest.approx(total / np.linalg.norm(total), abs=1e-6)
        assert (bag([title])[0] == made[row]).all()


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
