"""Superfluous words: what is learned, and that what is drawn was learned."""

from collections import Counter

import numpy as np
import polars as pl
import pytest

from tasks.io.command import ROOT
from tasks.pipeline.extra_words.superfluous import known, learn, pad, phrases_by_language

PHRASES = ROOT / "tasks/pipeline/extra_words/phrases.csv"
ESCO_TITLES = ROOT / "data/esco/titles.parquet"
LARGEST = ["de", "en", "es", "fr", "hu", "it", "nl", "pl", "pt", "ro"]


@pytest.mark.parametrize(
    ("title", "variant", "before", "after"),
    [
        ("nurse", "Senior Nurse", "senior", ""),
        ("nurse", "NURSE  (urgent!)", "", "(urgent!)"),
        ("nurse", "nurse - London", "", "- london"),
        ("nurse", "the (nurse) of nurse hall", "the", "of nurse hall"),
        ("c++ developer", "looking for C++ developer, remote", "looking for", "remote"),
        ("co-driver", "our co-driver, nights", "our", "nights"),
        ("codriver", "our co-driver", "our", ""),
        ("sales manager", "Sales - Manager UK", "", "uk"),
        ("geography teacher", "geography teacher 0.4 contract now", "", "0.4 contract now"),
    ],
)
def test_what_is_learned(title: str, variant: str, before: str, after: str) -> None:
    assert learn([title], [variant]) == [(before, after)]


@pytest.mark.parametrize("variant", ["nurse/carer", "old nurse. london", "nurse!", "nurses wanted"])
def test_nothing_is_learned_where_the_title_ends_inside_a_word_or_fills_the_input(variant) -> None:
    assert learn(["nurse"], [variant]) == []


def test_how_many_words_come_together_and_phrases_by_frequency() -> None:
    """Of four inputs three have one word before and none after: 3/4 of 8,000 draws, sd 39.

    Of the phrases of one word before, "old" is two of three: 2/3 of about 6,000, sd 37.
    """
    learned = [("old", ""), ("old", ""), ("new", ""), ("", "in the north")]
    drawn = Counter(pad(["x"] * 8000, learned, np.random.default_rng(1)))
    assert set(drawn) == {"old x", "new x", "x in the north"}
    assert abs(drawn["x in the north"] - 2000) < 160
    assert abs(drawn["old x"] / (8000 - drawn["x in the north"]) - 2 / 3) < 0.025


def test_phrases_of_different_inputs_meet() -> None:
    """One word on each side in both inputs: four ways to draw."""
    learned = [("a", "c"), ("b", "d")]
    drawn = set(pad(["x"] * 200, learned, np.random.default_rng(1)))
    assert drawn == {"a x c", "a x d", "b x c", "b x d"}


def test_nothing_learned_pads_nothing() -> None:
    with pytest.raises(ValueError, match="no superfluous words"):
        pad(["nurse"], [], np.random.default_rng(1))


def test_known_phrases_stand_alone_and_together() -> None:
    """Of each side as often alone as it is named; the shorter list begins anew."""
    made = known(["Looking for", "our"], ["(m/f)", "now", "- UK"])
    three = ["looking for", "our", "looking for"]
    assert [before for before, _ in made] == [*three[:2], "", "", "", *three]
    assert [after for _, after in made] == ["", "", "(m/f)", "now", "- uk", "(m/f)", "now", "- uk"]
    assert known([], ["now"]) == [("", "now")]
    assert known([], []) == []


def test_our_phrases_have_a_language_and_a_kind_and_are_no_titles() -> None:
    phrases = pl.read_csv(PHRASES)
    assert phrases.columns == ["language", "phrase", "kind"]
    kinds = {"gender", "contract", "place", "seniority", "hours", "other"}
    for (language,), own in phrases.group_by("language"):
        assert set(own["kind"]) == kinds
        assert len(own) >= (40 if language in LARGEST else 15)
    titles = pl.read_parquet(ESCO_TITLES)
    assert set(phrases["language"]) == set(titles["language"])
    lower = pl.col("phrase").str.to_lowercase().alias("title")
    read = phrases.select("language", lower)
    assert read.is_unique().all()
    titles = titles.with_columns(pl.col("title").str.to_lowercase())
    assert read.join(titles, on=["language", "title"], how="semi").is_empty()


def test_only_seniority_stands_before_a_title_too() -> None:
    german = phrases_by_language()["de"]
    before, after = ({pair[side] for pair in german} - {""} for side in (0, 1))
    assert {"junior", "azubi"} < before < after
    assert {"(m/w/d)", "vollzeit"} < after - before
