"""Rewordings keep and leave out what they say."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.studies.feedback.reworded import (
    KINDS,
    REWORDED,
    one_left_out,
    other_order,
    reworded,
)
from models.text.titles import normalize_title
from tasks.augment.superfluous import Superfluous
from tasks.files.frames import check

LEARNED = Superfluous(["looking for a", "", "urgent:"], ["", "in london", "(m/f)"])
TITLES = st.lists(st.sampled_from(["bread", "baker", "night", "c++"]), min_size=1, max_size=5).map(
    " ".join
)


@given(TITLES, st.integers(0, 99))
def test_other_order(title: str, seed: int) -> None:
    variant = other_order(title, np.random.default_rng(seed))
    if len(set(title.split())) == 1:
        assert variant is None
    else:
        assert variant is not None
        assert variant != title
        assert Counter(variant.split()) == Counter(title.split())


@given(TITLES, st.integers(0, 99))
def test_one_left_out(title: str, seed: int) -> None:
    variant, words = one_left_out(title, np.random.default_rng(seed)), title.split()
    left = {" ".join(words[:n] + words[n + 1 :]) for n in range(len(words))}
    assert variant in left if len(words) >= 3 else variant is None


@given(st.lists(TITLES, max_size=6, unique=True), st.integers(0, 9))
def test_every_kind(titles: list[str], seed: int) -> None:
    made = check(reworded(titles, LEARNED, 0.05, seed), REWORDED, "reworded")
    assert made.equals(reworded(titles, LEARNED, 0.05, seed))
    assert not made.select("title", "kind").is_duplicated().any()
    for title, variant, kind in made.select("title", "variant", "kind").rows():
        assert normalize_title(variant) != normalize_title(title)
        if kind == "extra_words":
            assert f" {title} " in f" {variant} "
            around = f" {variant} ".replace(f" {title} ", " | ", 1).strip()
            before, _, after = around.partition("|")
            assert before.strip() in LEARNED.before
            assert after.strip() in LEARNED.after
        if kind == "typo":  # one character of so few is substituted or deleted
            assert len(title) - len(variant) in (0, 1)
    assert set(made.filter(kind="extra_words")["title"]) == set(titles)


def test_all_kinds_of_a_long_title_and_none_without_words() -> None:
    titles = ["head baker of a bakery"]
    assert reworded(titles, LEARNED, 0.05, 1)["kind"].to_list() == list(KINDS)
    bare = reworded(titles, Superfluous([], []), 0.05, 1)
    assert "extra_words" not in bare["kind"].to_list()
    assert set(bare["title"]) == set(titles)
