"""Padded titles: which are left out, and that the rest stands whole."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from frames_of import titles_of
from hypothesis import given, settings
from hypothesis import strategies as st

from models.text.titles import clean_title, normalize_title
from tasks.io.frames import check
from tasks.io.schemas import VARIANTS
from tasks.pipeline.extra_words.contained_titles import contained_titles
from tasks.pipeline.extra_words.padded_titles import padded_titles

TITLE = st.lists(st.sampled_from(["a", "b", "c-d", "e.", "-"]), min_size=1, max_size=3).map(
    " ".join
)
PHRASES = st.lists(st.tuples(TITLE, TITLE | st.just("")), min_size=1, max_size=4)


def padded(
    titles: list[str], around: list[tuple[str, str]], taken: set[str], copies: int = 1
) -> tuple[pl.DataFrame, dict[str, int]]:
    frame = titles_of(("a", title, "train") for title in titles)
    return padded_titles(
        frame, lambda _: around, {"taken": taken}, copies, np.random.default_rng(1)
    )


@pytest.mark.thorough
@given(st.lists(TITLE, unique=True, min_size=2), PHRASES, st.sets(TITLE.map(normalize_title)))
@settings(max_examples=60)
def test_the_promises(titles: list[str], around: list[tuple[str, str]], taken: set[str]) -> None:
    variants, counts = padded(titles, around, taken, copies=3)
    check(variants, VARIANTS, "variants")
    assert variants.is_unique().all()
    words = {word for phrases in around for phrase in phrases for word in phrase.split()}
    names = {normalize_title(title) for title in titles}
    for title, variant, normalized in variants.rows():
        assert f" {title} " in f" {variant} "
        assert set(variant.split()) <= words | set(title.split())
        assert (variant, normalized) == (clean_title(variant), normalize_title(variant))
        assert normalized not in taken
        longest = contained_titles([normalized], names)[0]
        assert max(map(len, longest), default=0) <= len(normalize_title(title))
    assert counts["drawn"] == 3 * sum(normalize_title(title) != "" for title in titles)
    left_out = sum(counts[name] for name in ("taken", "holds_a_longer_title", "repeated"))
    assert counts["drawn"] - left_out == len(variants)


def test_each_rule_by_hand() -> None:
    """One phrase around three titles: taken, longer title inside, kept; the second copy repeats."""
    variants, counts = padded(
        ["nurse", "cook", "cook manager"], [("the", "manager")], {"the nurse manager"}, 2
    )
    assert variants.rows() == [("cook manager", *["the cook manager manager"] * 2)]
    assert counts == {"drawn": 6, "taken": 2, "holds_a_longer_title": 2, "repeated": 1}


def test_no_copies_or_nothing_learned_give_none() -> None:
    for variants, counts in (
        padded(["nurse"], [("the", "")], set(), 0),
        padded(["nurse"], [], set(), 2),
    ):
        assert variants.equals(pl.DataFrame(schema=dict(VARIANTS)))
        assert counts["drawn"] == 0


def test_titles_are_padded_with_the_words_of_their_language() -> None:
    frame = titles_of([("a", "nurse", "train"), ("a", "krankenpfleger", "train")])
    frame = frame.with_columns(language=pl.Series(["en", "de"]))
    words = {"en": [("the", "")], "de": [("", "(m/w/d)")]}
    variants, _ = padded_titles(frame, words.__getitem__, {}, 1, np.random.default_rng(1))
    assert variants["variant"].to_list() == ["the nurse", "krankenpfleger (m/w/d)"]
