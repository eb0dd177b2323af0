"""Composition: how the held-out titles spread over occupations, and what their queries say."""

from __future__ import annotations

from itertools import groupby
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from params_of import synonyms_params

from tasks.io.frames import check
from tasks.io.schemas import QUERIES
from tasks.pipeline.synonyms.composition import composition_queries, draw_parts, hold_out


def strings_of(sizes: list[int], not_free: int = 0) -> pl.DataFrame:
    """So many strings of each occupation 0, 1, ..., and some of the first that may not be held."""
    homes = [0] * not_free + [home for home, size in enumerate(sizes) for _ in range(size)]
    return pl.DataFrame(
        {
            "occupation_ids": [[f"o{home:03}"] for home in homes],
            "free": [place >= not_free for place in range(len(homes))],
        },
        schema={"occupation_ids": pl.List(pl.String), "free": pl.Boolean},
    )


@pytest.mark.thorough
@given(
    st.lists(st.integers(0, 20), max_size=12),
    st.integers(0, 4),
    st.sampled_from([0.0, 0.1, 0.25, 0.5, 1.0]),
    st.sampled_from([0, 3, 900]),
    st.sampled_from([0, 4, 900]),
    st.integers(0, 99),
)
@settings(max_examples=60)
def test_sizes(
    sizes: list[int], not_free: int, share: float, most: int, probe: int, seed: int
) -> None:
    """The test is exact, each occupation gives its share of it to within one string."""
    changes = {"test_share": share, "max_test": most, "valid_titles": probe}
    drawn = draw_parts(strings_of(sizes, not_free), synonyms_params(**changes), seed)
    count = {
        split: len(drawn.filter(pl.col("split") == split)) for split in ("test", "valid", "gate")
    }
    total = sum(sizes)
    expected = min(int(share * total), most)
    assert count["test"] == expected
    assert count["valid"] == min(probe, int(share * total), total - expected)
    assert count["gate"] == min(probe, int(share * total), total - expected - count["valid"])
    assert set(drawn.filter(~pl.col("free"))["split"]) <= {"train"}
    for home, size in enumerate(sizes):
        tests = drawn.filter(pl.col("split") == "test", occupation_ids=[f"o{home:03}"])
        assert abs(len(tests) - size * expected / max(total, 1)) < 1


def test_29_of_100() -> None:
    """0.29 · 100 is 28.999999999999996 to a computer."""
    drawn = draw_parts(strings_of([100]), synonyms_params(test_share=0.29), 1)
    assert (drawn["split"] == "test").sum() == 29


def test_every_string_can_be_drawn() -> None:
    """Of 2 occupations with 4 strings, one of each; over 60 seeds all 8 come up, some in no row."""
    strings, params = strings_of([4, 4]), synonyms_params()
    tests = [
        tuple(draw_parts(strings, params, seed)["split"].eq_missing("test").to_list())
        for seed in range(60)
    ]
    assert {sum(mask[:4]) for mask in tests} == {1}
    assert all(any(mask[place] for mask in tests) for place in range(8))
    assert len({place for place, _ in groupby(tests)}) > 8


EXCHANGES = [
    ("night cook", "night chef", "cook", "chef"),
    ("day cook", "day chef", "cook", "chef"),
    ("day chef, old", "day cook, old", "chef", "cook"),
    ("night nurse", "night, aid", "nurse", "aid"),
    ("nurse at night", "night aid", "nurse at night", "night aid"),
]


def held(**changes: Any) -> pl.DataFrame:
    """The last two rows are one string; with `trained_on` as given."""
    frame = pl.DataFrame(
        EXCHANGES, schema=["title", "variant", "phrase", "replacement"], orient="row"
    )
    frame = frame.with_columns(normalized=pl.col("variant").str.replace_all(",", ""))
    owners = [["b"], ["a"], ["a"], ["c"], ["a", "b"]]
    titles = pl.DataFrame({"title": frame["title"], "occupation_ids": owners})
    return hold_out(frame, titles, changes.pop("trained_on", set()), synonyms_params(**changes), 1)


def test_one_string_of_two_titles() -> None:
    """Its first spelling, the occupations of both titles; and in which order strings come."""
    strings = held()
    assert strings["variant"].to_list() == ["night chef", "day chef", "day cook, old", "night, aid"]
    assert strings["occupation_ids"].to_list() == [["b"], ["a"], ["a"], ["a", "b", "c"]]


def test_seen_counts_either_direction_but_only_training_strings() -> None:
    """Three strings are not free, so they train; the fourth is the only one to be held out."""
    everything = {"night chef", "day chef", "day cook old", "night aid"}
    for held_out, seen in (("day cook old", True), ("night aid", False)):
        strings = held(test_share=1.0, trained_on=everything - {held_out})
        rows = strings.filter(pl.col("split") == "test")
        assert rows.select("normalized", "seen").rows() == [(held_out, seen)]
        assert strings.filter(pl.col("split") == "train")["seen"].all()
    assert not held(test_share=1.0)["seen"].any()


def test_queries() -> None:
    """Numbered within their part; the size is that of the largest gold occupation."""
    strings = pl.DataFrame(
        {
            "variant": ["night, aid", "chef", "old cook", "cook"],
            "normalized": ["night aid", "chef", "old cook", "cook"],
            "occupation_ids": [["a", "b"], ["b"], ["a"], ["c"]],
            "split": ["valid", "test", "train", "test"],
            "seen": [True, False, True, True],
        }
    )
    queries = check(composition_queries(strings, {"a": 7, "b": 2, "c": 3}), QUERIES, "queries")
    assert queries.drop("test", "query_id", "split").rows() == [
        ("chef", "chef", "chef", ["b"], 2, "pair_unseen"),
        ("cook", "cook", "cook", ["c"], 3, "pair_seen"),
        ("night, aid", "night, aid", "night aid", ["a", "b"], 7, "pair_seen"),
    ]
    numbered = [("test", "test-0"), ("test", "test-1"), ("valid", "valid-0")]
    assert queries.select("test", "split", "query_id").rows() == [
        ("composition", split, f"composition-{number}") for split, number in numbered
    ]
