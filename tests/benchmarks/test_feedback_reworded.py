"""Rewordings keep and leave out what they say."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.reworded import KINDS, REWORDED, one_left_out, other_order, reworded
from models.titles import normalize_title
from tasks.frames import check
from tasks.superfluous import Superfluous

LEARNED = Superfluous(["looking for a", "", "urgent:"], ["", "in london", "(m/f)"])
TITLES = st.lists(st.sampled_from(["bread", "baker", "night", "c++"]), min_size=1, max_size=5).map(
    " ".join
)


@given(TITLES, st.integers(0, 99))
def test_other_order(title: str, seed: int) -> None:
    found = other_order(title, np.random.default_rng(seed))
    if len(set(title.split())) == 1:
        assert found is None
    else:
        assert found is not None
        assert found != title
        assert Counter(found.split()) == Counter(title.split())


@given(TITLES, st.integers(0, 99))
def test_one_left_out(title: str, seed: int) -> None:
    found, words = one_left_out(title, np.random.default_rng(seed)), title.split()
    left = {" ".join(words[:n] + words[n + 1 :]) for n in range(len(words))}
    assert found in left if len(words) >= 3 else found is None


@given(st.lists(TITLES, max_size=6, unique=True), st.integers(0, 9))
def test_every_kind(titles: list[str], seed: int) -> None:
    found = check(reworded(titles, LEARNED, 0.05, seed), REWORDED, "reworded")
    assert found.equals(reworded(titles, LEARNED, 0.05, seed))
    assert not found.select("title", "kind").is_duplicated().any()
    for title, variant, kind in found.rows():
        assert normalize_title(variant) != normalize_title(title)
        if kind == "extra_words":
            assert f" {title} " in f" {variant} "
            around = f" {variant} ".replace(f" {title} ", " | ", 1).strip()
            before, _, after = around.partition("|")
            assert before.strip() in LEARNED.before
            assert after.strip() in LEARNED.after
        if kind == "typo":  # one character of so few is substituted or deleted
            assert len(title) - len(variant) in (0, 1)
    assert set(found.filter(kind="extra_words")["title"]) == set(titles)


def test_all_kinds_of_a_long_title_and_none_without_words() -> None:
    titles = ["Head Baker of a Bakery"]
    assert reworded(titles, LEARNED, 0.05, 1)["kind"].to_list() == list(KINDS)
    bare = reworded(titles, Superfluous([], []), 0.05, 1)
    assert "extra_words" not in bare["kind"].to_list()
    assert set(bare["title"]) == set(titles)
