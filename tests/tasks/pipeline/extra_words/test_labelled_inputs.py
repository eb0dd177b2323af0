"""Labelled inputs beside titles of their occupation: which are left out, and what is drawn."""

from __future__ import annotations

import numpy as np
import polars as pl
from frames_of import inputs_of, titles_of

from tasks.io.frames import check
from tasks.io.schemas import VARIANTS
from tasks.pipeline.extra_words.labelled_inputs import labelled_inputs

TITLES = titles_of(
    (occupation, title, "train")
    for occupation, title in (("a", "nurse"), ("a", "staff nurse"), ("b", "cook"), ("b", "chef"))
)
INPUTS = inputs_of(
    [
        ("rgn / nights", "a", "train"),
        ("RGN / Nights!", "a", "train"),  # normalizes to the same
        ("chef de partie", "b", "train"),
        ("something", None, "train"),
        ("cleaner", "c", "train"),  # no title has its occupation
        ("", "a", "train"),
    ]
)


def test_each_rule_by_hand() -> None:
    made = labelled_inputs(INPUTS, TITLES, {"chef de partie"}, 50, np.random.default_rng(1))
    check(made, VARIANTS, "variants")
    assert made.sort("title").rows() == [
        ("nurse", "rgn / nights", "rgn / nights"),
        ("staff nurse", "rgn / nights", "rgn / nights"),
    ]


def test_no_title_of_two_occupations_is_drawn() -> None:
    carer = TITLES.head(1).with_columns(title=pl.lit("carer"), occupation_ids=pl.lit(["a", "b"]))
    both = pl.concat([TITLES, carer])
    made = labelled_inputs(INPUTS, both, set(), 50, np.random.default_rng(1))
    assert set(made["title"]) == {"nurse", "staff nurse", "cook", "chef"}


def test_none_are_made_without_copies() -> None:
    assert labelled_inputs(INPUTS, TITLES, set(), 0, np.random.default_rng(1)).is_empty()
