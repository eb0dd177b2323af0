"""What a system is trained on: no pair that a test asks, either way round, as normalized."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.text.titles import normalize_title
from tasks.papers.similarity.pair_files import PARAPHRASE_PARTS, PARAPHRASED
from tasks.papers.similarity.readers.scored_pairs import SCORED_PAIRS
from tasks.papers.similarity.training_pairs import training_pairs

NONE = pl.DataFrame(schema=dict(PARAPHRASE_PARTS))
EXAMPLES = settings(derandomize=True, database=None, deadline=None, max_examples=60)
TEXTS = st.sampled_from(["a cat", "A cat!", "a dog", "dog", "Dog.", "the  bird", "the bird"])
ROWS = st.lists(
    st.tuples(
        st.sampled_from(["sick", "msrp", "simlex"]),
        st.sampled_from(["train", "valid", "test"]),
        TEXTS,
        TEXTS,
        st.just(1.0),
    ),
    max_size=20,
)


def frame(*rows: tuple[str, str, str, str, float]) -> pl.DataFrame:
    return pl.DataFrame(list(rows), schema=dict(SCORED_PAIRS), orient="row")


def test_a_test_pair_of_any_set_is_left_out_and_counted() -> None:
    """Turn MSRP's second pair round into STS 2012's test pair; its valid one is SICK's."""
    pairs = frame(
        ("msrp", "train", "One cat.", "A dog", 1.0),
        ("msrp", "train", "The shares fell", "Shares FELL!", 0.0),
        ("msrp", "valid", "a man", "a woman", 1.0),
        ("msrp", "valid", "a man", "a child", 0.0),
        ("msrp", "test", "one", "two", 0.0),
        ("sts2012/MSRpar", "test", "shares fell", "the shares fell", 3.0),
        ("sts2012/MSRpar", "train", "one cat", "a dog", 3.0),
        ("sick", "test", "A man", "A woman", 2.0),
    )
    chosen = training_pairs(pairs, NONE, "msrp")
    assert chosen.train.titles == ["one cat.", "a dog"]
    assert chosen.train.scores is not None and chosen.train.scores.tolist() == [1.0]
    assert chosen.valid.titles == ["a man", "a child"]
    assert chosen.left_out == {"train": 1, "valid": 1}


def test_paraphrases_have_no_scores_and_follow_the_same_rule() -> None:
    links = pl.DataFrame(
        [("train", "big", "large"), ("train", "big", "huge"), ("valid", "small", "tiny")],
        schema=dict(PARAPHRASE_PARTS),
        orient="row",
    )
    pairs = frame(("simlex", "test", "large", "big", 9.5))
    chosen = training_pairs(pairs, links, PARAPHRASED)
    assert chosen.train.titles == ["big", "huge"] and chosen.train.scores is None
    assert chosen.valid.titles == ["small", "tiny"] and chosen.valid.scores is None
    assert chosen.left_out == {"train": 1, "valid": 0}


@pytest.mark.thorough
@given(ROWS)
@EXAMPLES
def test_nothing_that_is_asked_is_trained_on_and_nothing_else_is_lost(
    rows: list[tuple[str, str, str, str, float]],
) -> None:
    """Compare with a loop over sets of two normalized strings."""

    def key(row: tuple[str, str, str, str, float]) -> frozenset[str]:
        return frozenset((normalize_title(row[2]), normalize_title(row[3])))

    rows = [("msrp", "train", "fire", "water", 0.0), *rows]
    tested = {key(row) for row in rows if row[1] == "test"}
    chosen = training_pairs(frame(*rows), NONE, "msrp")
    for split, pairs in (("train", chosen.train), ("valid", chosen.valid)):
        mine = [row for row in rows if row[:2] == ("msrp", split)]
        kept = [row for row in mine if key(row) not in tested]
        assert len(pairs) == len(kept)
        assert chosen.left_out[split] == len(mine) - len(kept)
        left = [normalize_title(pairs.titles[row]) for row in pairs.left]
        assert left == [normalize_title(row[2]) for row in kept]


@pytest.mark.parametrize("trained_on", ["simlex", "sik", "test"])
def test_a_set_without_a_part_to_train_on_is_refused(trained_on: str) -> None:
    pairs = frame(("sick", "train", "a", "b", 2.0), ("simlex", "test", "a", "b", 2.0))
    with pytest.raises(ValueError, match="has no part train; choose sick, paraphrases"):
        training_pairs(pairs, NONE, trained_on)
