"""Titles with two exchanges: by hand, and what none of them may be."""

from __future__ import annotations

import polars as pl
import pytest
from params_of import synonyms_params

from tasks.io.schemas import SYNONYMS
from tasks.pipeline.synonyms.composition import twice_exchanged

STRINGS = pl.DataFrame(
    {
        "normalized": ["night chef", "senior chef", "day chef"],
        "variant": ["night chef", "senior, chef", "day chef"],
        "occupation_ids": [["a"], ["a", "b"], ["c"]],
        "free": [True, True, True],
        "split": ["train", "test", "gate"],
        "seen": [True, True, False],
    }
)
PAIRS = pl.DataFrame(
    [
        (None, "chef", "cook", "manual", None),
        (None, "senior", "head", "manual", None),
        ("a", "night", "late", "induced", 1),
        ("a", "day", "early", "induced", 1),
    ],
    schema=SYNONYMS,
    orient="row",
)


def made(count: int, taken: set[str], seed: int = 1) -> pl.DataFrame:
    params = synonyms_params(gate_titles=count)
    return twice_exchanged(STRINGS, PAIRS, taken, params, seed)


def test_by_hand() -> None:
    """With "cook" in it all are taken; and "day" has a synonym in another occupation only."""
    rows = made(9, {"night cook", "senior cook", "day cook"}).sort("variant", descending=True)
    assert rows.columns == STRINGS.columns
    assert rows.select("variant", "normalized", "occupation_ids").rows() == [
        ("late chef", "late chef", ["a"]),
        ("head, chef", "head chef", ["a", "b"]),
    ]
    assert set(rows["split"]) == {"gate"}
    assert rows["seen"].is_null().all()


@pytest.mark.parametrize("seed", range(5))
def test_one_of_each_title_and_no_more_than_asked_for(seed: int) -> None:
    """Three titles, of which two have two ways on."""
    everything = made(9, set(), seed)
    assert len(everything) == 3
    assert not set(everything["normalized"]) & set(STRINGS["normalized"])
    assert len(made(2, set(), seed)) == 2
    assert made(0, set(), seed).is_empty()
    assert made(2, set(), seed).equals(made(2, set(), seed))
