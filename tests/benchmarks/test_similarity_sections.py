"""The papers' figures against the means that the papers print, and tables by hand."""

from __future__ import annotations

import pytest

from benchmarks.paper_figures import (
    WIETING_SENTENCES,
    WIETING_SYSTEMS,
    wieting_cell,
    wieting_sentences,
)
from benchmarks.similarity_sections import attention, charagram

YEARS = {
    "sts2012": (56.5, 40.1, 58.5, 66.1),
    "sts2013": (47.7, 30.7, 57.7, 57.2),
    "sts2014": (64.7, 46.8, 71.5, 74.7),
    "sts2015": (66.0, 45.5, 75.7, 76.1),
    "": (59.2, 41.9, 66.2, 68.7),
}
"""Means of Table 11 as printed, by year and over all sets, in the order of the systems."""


def row(**changes: object) -> dict[str, str]:
    values = {"experiment": "", "dataset": "sick", "system": "lstm", "test": "test", "metric": ""}
    values |= {"value": "0.5", "low": "0.4", "high": "0.6", "n": "9", "seed": "", "machine": ""}
    return {name: str(value) for name, value in (values | {"command": ""} | changes).items()}


@pytest.mark.parametrize("year", YEARS)
def test_table_11_has_the_means_that_stand_below_it(year: str) -> None:
    """To within 0.1: both the figures and their mean are rounded to one decimal."""
    tests = [test for test in WIETING_SENTENCES if test.startswith(year)]
    for system, printed in zip(WIETING_SYSTEMS, YEARS[year], strict=True):
        mean = wieting_sentences(system, tests)
        assert mean is not None
        assert 100 * mean == pytest.approx(printed, abs=0.1)


def test_no_figure_where_the_paper_has_none() -> None:
    assert wieting_sentences("word_overlap", ["sick"]) is None
    assert wieting_sentences("ngram_bag", ["sick", "sts2099/x"]) is None
    assert wieting_sentences("ngram_bag", []) is None
    assert wieting_cell("simlex", "23456", 50000) == pytest.approx(0.695)
    assert wieting_cell("sts", "2", 1000) == pytest.approx(0.501)


def test_attention_stands_beside_table_1() -> None:
    """The paper: 0.7832 - 0.7121 = 0.0711 for attention; the gain here has 0 in its interval."""
    rows = [
        row(metric="pearson"),
        row(metric="mean_squared_error", value="0.0312", low="", high=""),
        row(system="attentive_lstm", metric="pearson", value="0.5512"),
        row(system="attentive_lstm-lstm", metric="gain_pearson", value="0.0512", low="-0.0100"),
        row(system="attentive_lstm", metric="pearson", seed=1, value="0.6"),
        row(system="data", test="training", metric="pairs", value="4407", low="", high=""),
        row(system="lstm/max_length:20", metric="pearson"),
    ]
    lines = "\n\n".join(attention(rows)).splitlines()
    for line in (
        "| lstm | 0.500 [0.400, 0.600] | 0.712 | 0.031 | 0.032 |",
        "| attentive_lstm | 0.551 [0.400, 0.600] | 0.783 |  | 0.026 |",
        "| attentive_lstm-lstm |  | pearson | 0.051 [-0.010, 0.600] | no | 0.071 |",
        "| lstm | 20 | 0.500 [0.400, 0.600] |  |  | 0.306 | 0.259 |",
        "| attentive_lstm | 1 | 0.600 [0.400, 0.600] |",
        "| 4,407 |",
    ):
        assert line in lines


def test_charagram_stands_beside_tables_1_3_and_5() -> None:
    """The paper's mean of MSRpar and OnWN (2012): (59.7 + 68.7) / 2 = 64.2."""
    bag = {"system": "ngram_bag", "dataset": "ppdb"}
    rows = [
        row(**bag, test="simlex", metric="spearman"),
        row(**bag, test="sts2012/MSRpar", metric="pearson"),
        row(**bag, test="sts2012/OnWN", metric="pearson"),
        row(**bag, test="sts", metric="pearson", value="0.45"),
        row(**bag, test="examples_0010000", metric="spearman", seed=1, low="", high=""),
        row(system="ngram_bag/orders:23/most:1000", test="simlex", metric="spearman", seed=1),
        row(**bag, test="trial:x", metric="valid_success_at_1", low="", high="", seed=1),
        row(**bag, test="trial:x", metric="chosen", value="1", low="", high="", seed=1),
    ]
    lines = "\n\n".join(charagram(rows)).splitlines()
    for line in (
        "| ngram_bag | 0.500 [0.400, 0.600] |  | 0.633 |",
        "| sts2012/OnWN |  | 0.500 [0.400, 0.600] | 0.687 |  | 0.530 |  | 0.618 |  | 0.707 |",
        "| sts |  | 0.450 [0.400, 0.600] | 0.642 |  | 0.383 |  | 0.562 |  | 0.568 |",
        "| ngram_bag | 1 | 0.500 |",
        "| trial:x | valid_success_at_1 | 0.5 (chosen) | 9 | 1 |",
    ):
        assert line in lines
    (cells,) = [line for line in lines if line.startswith("| simlex | 1,000 |")]
    assert "| 0.500 [0.400, 0.600] (0.330) |" in cells
