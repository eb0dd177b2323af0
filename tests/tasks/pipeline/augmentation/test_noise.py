"""Noise: how much, of which kind, and never something else."""

from __future__ import annotations

from string import ascii_lowercase

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.pipeline.augmentation.noise import (
    _apply,
    _flatten,
    corrupt_by_count,
    corrupt_by_rate,
    letters_by_language,
    letters_of,
)

TITLES = st.lists(st.text(max_size=12), max_size=5)
LETTERS = st.sets(st.sampled_from("abcdeäöß𐍈"), min_size=2).map(lambda s: "".join(sorted(s)))


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.mark.thorough
@given(TITLES, LETTERS, st.integers(0, 9999))
def test_each_character_is_kept_changed_or_deleted(
    titles: list[str], letters: str, seed: int
) -> None:
    """Oracle: the masks character by character; a substitute is a letter, and another one."""
    points, owner = _flatten(titles)
    delete, change = (rng(seed + i).random(points.size) < 0.4 for i in (0, 1))
    noisy = _apply(points, owner, len(titles), delete, change, letters, rng(seed))
    assert len(noisy) == len(titles)
    number = 0
    for title, corrupted in zip(titles, noisy, strict=True):
        rest = iter(corrupted)
        for character in title:
            if not delete[number]:
                other = next(rest)
                assert (other != character) == change[number]
                assert other in letters or not change[number]
            number += 1
        assert list(rest) == []


def test_rates() -> None:
    """40,000 characters, 20 % substituted and 5 % deleted: within 5 standard deviations."""
    titles = ["abcdefghij" * 4] * 1000
    noisy = corrupt_by_rate(titles, 0.2, 0.05, "abcdefghij", rng())
    deleted = 1 - sum(map(len, noisy)) / 40_000
    assert abs(deleted - 0.05) < 5 * (0.05 * 0.95 / 40_000) ** 0.5
    noisy = corrupt_by_rate(titles, 0.2, 0.0, "abcdefghij", rng())
    changed = [
        a != b for x, y in zip(titles, noisy, strict=True) for a, b in zip(x, y, strict=True)
    ]
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


def test_letters_of_each_title_draw_as_those_of_all() -> None:
    titles = ["baker", "nurse", "clerk"]
    one, each = (corrupt_by_rate(titles, 0.5, 0.2, own, rng()) for own in ("abc", ["abc"] * 3))
    assert one == each
