"""Typos: how titles are misspelt, and who is left out; `test_no_leaks.py` has the promises."""

from string import ascii_lowercase
from typing import Any

import numpy as np
import polars as pl
import pytest
from frames_of import titles_of
from hypothesis import given
from hypothesis import strategies as st

from tasks.io.schemas import QUERIES
from tasks.pipeline.typos import (
    Typos,
    TyposParams,
    corrupt_by_count,
    corrupt_by_rate,
    draw_again,
    letters_by_language,
    letters_of,
    typos,
)

NO_QUERIES = pl.DataFrame(schema=dict(QUERIES))


def params(**changes: Any) -> TyposParams:
    values = {"substituted": 0.2, "deleted": 0.05, "variants": 3, "test_share": 0.05}
    sizes = {"test_titles": 0, "valid_titles": 3, "gate_titles": 2}
    return TyposParams(**values | {"max_draws": 20} | sizes | changes)


ROWS = [("a", "tutor", "train"), ("b", "TUTOR", "train"), ("b", "head cook", "valid")]
ROWS += [("a", "java developer", "train"), ("c", "head of the department of lifts", "train")]


def made_of(rows: list[tuple[str, str, str]], **changes: Any) -> Typos:
    return typos(titles_of(rows), NO_QUERIES, params(**changes), 1)


def test_gold_and_size_of_queries() -> None:
    """Every occupation that holds the title; the size counts the titles of the largest of them."""
    tests = made_of(ROWS).queries.filter(pl.col("split") == "test")
    golds = tests.select("occupation_ids", "occupation_size")
    assert golds.rows() == [(["a", "b"], 2), (["a"], 2), (["c"], 1)]
    assert set(tests["test"]) == {"typos"}
    assert set(tests["source"]) == {"typo"}
    assert made_of(ROWS).queries["query_id"].is_unique().all()


def test_who_can_only_become_a_title_is_left_out_and_counted() -> None:
    """Letters a and b only, and all strings of one and two of them are titles, but for "bb".

    From "a" one change gives "b" or nothing: left out. So is "b". "aa" gives "a", "ab", "ba": left
    out. "ab" and "ba" can become "bb".
    """
    rows = [("x", title, "train") for title in ("a", "b", "aa", "ab", "ba")]
    made = made_of(rows, max_draws=60, valid_titles=0, gate_titles=0)
    assert made.left_out["test_queries"] == 3
    assert made.queries["raw_title"].to_list() == ["bb", "bb"]
    assert set(made.variants["variant"]) <= {"bb"}
    assert made.left_out["valid_queries"] == made.left_out["gate_queries"] == 0


def test_the_test_has_as_many_titles_as_asked_for() -> None:
    rows = [("x", f"tutor {number}", "train") for number in range(9)]
    for asked, test in ((0, 9), (4, 4), (99, 9)):
        queries = made_of(rows, test_titles=asked).queries
        assert queries["split"].value_counts().sort("split")["count"].to_list() == [2, test, 3]


def test_draws_are_counted_and_only_the_pending_are_drawn_again() -> None:
    calls: list[list[str]] = []

    def corrupt(titles: list[str], letters: list[str]) -> list[str]:
        assert letters == ["ab"] * len(titles)
        calls.append(titles)
        return ["-!" if title == "never" else f"{title}{len(calls)}" for title in titles]

    training = pl.DataFrame({"title": ["never", "one", "two"], "letters": "ab"})
    drawn = draw_again(training, corrupt, {"one1", "two1", "two2"}, 4)
    assert drawn == [None, "one2", "two3"]
    assert calls == [["never", "one", "two"], ["never", "one", "two"], ["never", "two"], ["never"]]
    assert draw_again(training.clear(), corrupt, set(), 4) == []
    assert len(calls) == 4


def test_a_variant_that_its_title_has_already_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Told apart as they are written: with a space behind it, it is another draw."""
    draws = iter(["tutr", "Tutr ", "tutr", "tuor"])
    monkeypatch.setattr("tasks.pipeline.typos.corrupt_by_rate", lambda *_, **__: [next(draws)])
    made = made_of([("a", "tutor", "train")], variants=4, valid_titles=0, gate_titles=0)
    assert made.variants.rows() == [("tutor", typo, typo) for typo in ("tutr", "tutr", "tuor")]
    assert made.left_out["variants"] == 1


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_rates() -> None:
    """40,000 characters, 20 % substituted and 5 % deleted: within 5 standard deviations."""
    titles = ["abcdefghij" * 4] * 1000
    noisy = corrupt_by_rate(titles, 0.2, 0.05, "abcdefghij", rng())
    deleted = 1 - sum(map(len, noisy)) / 40_000
    assert abs(deleted - 0.05) < 5 * (0.05 * 0.95 / 40_000) ** 0.5
    noisy = corrupt_by_rate(titles, 0.2, 0.0, "abcdefghij", rng())
    characters = zip("".join(titles), "".join(noisy), strict=True)
    changed = [one != other for one, other in characters]
    assert abs(np.mean(changed) - 0.2) < 5 * (0.2 * 0.8 / 40_000) ** 0.5


def test_substitutes_are_uniform_over_the_other_letters() -> None:
    (noisy,) = corrupt_by_rate(["b" * 30_000], 1.0, 0.0, "abcd", rng())
    counts = {letter: noisy.count(letter) for letter in "abcd"}
    assert counts["b"] == 0
    assert all(abs(counts[letter] - 10_000) < 5 * (30_000 * 2 / 9) ** 0.5 for letter in "acd")


@given(st.lists(st.text(min_size=1, max_size=70), min_size=1, max_size=4), st.integers(0, 999))
def test_the_count_is_exact(titles: list[str], seed: int) -> None:
    """As "Z" is no letter here, a changed place shows: kept ones are a subsequence of the title."""
    noisy = corrupt_by_count(["Z" * len(title) for title in titles], 0.05, "ab", rng(seed))
    for title, corrupted in zip(titles, noisy, strict=True):
        changes = max(1, round(0.05 * len(title)))
        deleted = len(title) - len(corrupted)
        substituted = len(corrupted) - corrupted.count("Z")
        assert deleted + substituted == changes


def test_both_kinds_in_equal_parts_and_every_place() -> None:
    """One change in each of 4,000 titles "abcde": half deletions, each place a fifth."""
    noisy = corrupt_by_count(["abcde"] * 4000, 0.05, "xyz", rng())
    deletions = sum(len(corrupted) == 4 for corrupted in noisy)
    assert abs(deletions - 2000) < 5 * 1000**0.5
    gone = [next(c for c in "abcde" if c not in corrupted) for corrupted in noisy]
    assert all(abs(gone.count(c) - 800) < 5 * 640**0.5 for c in "abcde")


def test_empty_and_astral() -> None:
    for corrupt in (
        lambda titles: corrupt_by_count(titles, 0.05, "ab", rng()),
        lambda titles: corrupt_by_rate(titles, 0.5, 0.2, "ab", rng()),
    ):
        assert corrupt([]) == []
        assert corrupt([""]) == [""]
        noisy = corrupt(["", "👩‍🍳" * 30, "", "\ud800"])
        assert (noisy[0], noisy[2]) == ("", "")
        assert set(noisy[1]) <= set("👩‍🍳ab")


def test_letters() -> None:
    """2,000 letters: "é" once is 0.05 %, left out; "z" twice is 0.1 %, kept. Digits are none."""
    assert letters_of(["b" * 1997, "é", "zz", "123 +"]) == "bz"
    assert letters_of(["aaa"]) == ascii_lowercase
    assert letters_of([]) == ascii_lowercase


def test_noise_has_the_letters_of_the_own_language() -> None:
    titles, languages = ["пекар", "baker", "лекар", ""], ["bg", "en", "bg", "en"]
    letters = letters_by_language(titles, languages)
    assert letters == ["аекл" + "пр", "abekr", "аеклпр", "abekr"]
    for corrupt in (
        lambda titles: corrupt_by_count(titles, 0.4, letters, rng()),
        lambda titles: corrupt_by_rate(titles, 0.6, 0.1, letters, rng()),
    ):
        for noisy, own in zip(corrupt(titles), letters, strict=True):
            assert set(noisy) <= set(own)
