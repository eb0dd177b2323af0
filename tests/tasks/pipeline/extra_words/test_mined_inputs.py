"""Mining: the matcher's verdict worked by hand, which title stands, and what is left out."""

from __future__ import annotations

import polars as pl
import pytest
from frames_of import inputs_of, titles_of

from tasks.io.frames import check
from tasks.pipeline.extra_words.mined_inputs import BLOCK, Mined, mined_inputs

MINED = {
    "title": pl.String,
    "occupation_ids": pl.List(pl.String),
    "occupation_size": pl.UInt32,
    "raw_title": pl.String,
    "normalized": pl.String,
    "variant": pl.String,
    "label_agrees": pl.Boolean,
}


def mined_from(
    occupations: dict[str, list[str]],
    rows: list[tuple[str, str | None]],
    taken: dict[str, set[str]] | None = None,
) -> Mined:
    """Occupations by title; inputs with their label."""
    titles = titles_of((one, title, "train") for title, own in occupations.items() for one in own)
    inputs = inputs_of((raw, label, "train") for raw, label in rows)
    return mined_inputs(inputs, titles, taken or {})


def mined(occupations: dict[str, list[str]], *raw_titles: str) -> Mined:
    return mined_from(occupations, [(raw, None) for raw in raw_titles])


@pytest.mark.parametrize(
    ("other", "held_by", "verdict"),
    [
        ("k xy", ["a"], "agrees"),
        ("k xy", ["b"], "ambiguous"),
        ("k xy", ["a", "b"], "ambiguous"),
        ("k xyz", ["b"], "disagrees"),
        ("k xyz", ["a"], "agrees"),
        ("k", ["b"], "agrees"),
    ],
)
def test_the_matchers_verdict(other: str, held_by: list[str], verdict: str) -> None:
    """The input "cook xyz" has 8 characters and 6 trigrams: sim = 8 − 6 − |T_C| + 3 · shared.

    "cook" has 2 trigrams, both shared: 6. "k xy" has 2, both shared: 6, a tie. "k xyz" has 3, all
    shared: 8. "k" has none: 2.
    """
    mining = mined({"cook": ["a"], other: held_by}, "cook xyz")
    counts = {"agrees": 0, "ambiguous": 0, "disagrees": 0} | {verdict: 1}
    assert {name: mining.counts[name] for name in counts} == counts
    assert mining.inputs["variant"].to_list() == ["cook xyz"] * (verdict == "agrees")


def test_a_tie_within_the_titles_own_occupations_agrees() -> None:
    """Title "cook" belongs to a and b, the tied "k xy" to b alone: whoever is first, it is gold."""
    mining = mined({"cook": ["a", "b"], "k xy": ["b"]}, "cook xyz")
    assert mining.inputs.select("title", "occupation_ids").rows() == [("cook", ["a", "b"])]


def test_the_longest_title_with_which_the_matcher_agrees_stands() -> None:
    """The longest of its occupation, be it longer than the matched one or not."""
    titles = {"nurse": ["a"], "ward nurse": ["a"]}
    assert mined(titles, "old ward nurse").inputs["title"].to_list() == ["ward nurse"]
    other = mined({"nurse": ["a"], "ward nurse": ["b"]}, "old ward nurse")
    assert other.inputs.select("title", "occupation_ids").rows() == [("ward nurse", ["b"])]
    # the matcher takes "nd cooks x", which is not held whole, and with it occupation a
    third = mined(
        {"cook": ["a"], "old nurse": ["b"], "nd cooks x": ["a"]}, "old nurse cook and cooks x"
    )
    assert third.inputs["title"].to_list() == ["cook"]


def test_of_titles_that_differ_in_punctuation_the_one_the_matcher_takes() -> None:
    """Titles "co-driver" and "codriver" normalize alike; the matcher sees the hyphen."""
    titles = {"codriver": ["a"], "co-driver": ["b"]}
    mining = mined(titles, "old co-driver", "new codriver")
    assert mining.inputs["title"].to_list() == ["co-driver", "codriver"]
    both = mined({"codriver": ["a"], "co-driver": ["a"]}, "old codriver")
    assert both.inputs["title"].to_list() == ["co-driver"]


def test_labels_and_distinct_inputs() -> None:
    """Of equal inputs the first with a label stands for all; without one the first."""
    rows = [
        ("Old  nurse", None),
        ("old nurse!", "b"),
        ("OLD NURSE", "a"),
        ("New nurse", None),
        ("NEW nurse", None),
        ("One  nurse", "a"),
        ("...", None),
        ("", "a"),
    ]
    mining = mined_from({"nurse": ["a"]}, rows)
    columns = ("raw_title", "variant", "normalized", "label_agrees")
    assert mining.inputs.select(columns).rows() == [
        ("old nurse!", "old nurse!", "old nurse", False),
        ("New nurse", "new nurse", "new nurse", None),
        ("One  nurse", "one nurse", "one nurse", True),
    ]
    assert mining.counts["inputs"] == 8
    assert mining.counts["distinct"] == 4
    check(mining.inputs, MINED, "mined")


def test_every_rule_is_counted() -> None:
    """Seven distinct inputs: one holds nothing, one is a title, one each of two reasons."""
    raw_titles = ["nurse", "cook internal", "old nurse", "Nurse, new", "a nurse", "a nurse b", "x"]
    taken = {"first": {"old nurse", "nurse"}, "second": {"nurse new", "old nurse"}}
    mining = mined_from(
        {"nurse": ["a"], "intern": ["b"]}, [(raw, None) for raw in raw_titles], taken
    )
    assert mining.counts == {
        "inputs": 7,
        "distinct": 7,
        "hold_a_title": 5,
        "hold_it_strictly": 4,
        "first": 1,
        "second": 1,
        "agrees": 2,
        "ambiguous": 0,
        "disagrees": 0,
    }
    assert mining.inputs["variant"].to_list() == ["a nurse", "a nurse b"]


def test_more_than_one_block() -> None:
    raw_titles = [f"{name} number {n}" for n in range(BLOCK) for name in ("nurse", "cook")]
    mining = mined({"nurse": ["a"], "cook": ["b"]}, *raw_titles)
    assert mining.inputs["variant"].to_list() == raw_titles
    assert mining.inputs["title"].to_list() == ["nurse", "cook"] * BLOCK


def test_nothing_in_nothing_out() -> None:
    for mining in (mined({"nurse": ["a"]}), mined({}), mined({}, "old nurse")):
        check(mining.inputs, MINED, "mined")
        assert len(mining.inputs) == mining.counts["agrees"] == 0
