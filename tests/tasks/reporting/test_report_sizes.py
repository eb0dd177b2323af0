"""Occupation sizes before and after synonyms, against a loop and by hand."""

from __future__ import annotations

import frames_of
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.text.titles import clean_title
from tasks.files.schemas import SYNONYM_VARIANTS
from tasks.reporting.sections.sizes import size_counts, sizes, with_variants

TITLES = [" line  cook", "line cook", "chef", "Chef", "baker"]


def aliases_of(rows: list[tuple[int, str, str]]) -> pl.DataFrame:
    return frames_of.aliases_of(
        (f"o{occupation}", title, False, split) for occupation, title, split in rows
    )


def variants_of(rows: list[tuple[str, str]]) -> pl.DataFrame:
    return frames_of.variants_of(
        ((title, made, "p", "o", "manual") for title, made in rows), SYNONYM_VARIANTS
    )


@pytest.mark.thorough
@given(
    st.sets(
        st.tuples(
            st.integers(0, 3), st.sampled_from(TITLES), st.sampled_from(["train", "heldout_alias"])
        ),
        max_size=12,
    ),
    st.sets(
        st.tuples(st.sampled_from(TITLES).map(clean_title), st.sampled_from("vwxyz")), max_size=12
    ),
)
def test_sizes_with_variants_against_a_loop(rows, made):
    """Count a title once an alias; a variant once an occupation that trains on its title."""
    expected: dict[str, set[object]] = {}
    for occupation, title, split in rows:
        group = expected.setdefault(f"o{occupation}", set())
        group.add((title, split))
        if split == "train":
            group.update(variant for source, variant in made if source == clean_title(title))
    titles = with_variants(aliases_of(sorted(rows)), variants_of(sorted(made)))
    counted = dict(titles.group_by("occupation_id").len().iter_rows())
    assert counted == {occupation: len(group) for occupation, group in expected.items()}


def test_a_variant_of_a_shared_title_counts_in_both_and_a_doubled_one_once():
    """Give o0, with 2, a and b: 4; o1, with 1, a: 2; o2, held out, keeps its 1."""
    aliases = aliases_of(
        [(0, "cook", "train"), (0, "chef", "train"), (1, "Cook", "train"), (2, "cook", "valid")]
    )
    variants = variants_of([("cook", "a"), ("chef", "a"), ("chef", "b")])
    titles = with_variants(aliases, variants)
    assert size_counts(titles).rows() == [(1, 1, 3), (2, 1, 2), (4, 1, 1)]
    assert set(titles.filter(pl.col("occupation_id") == "o1")["title"]) == {"Cook", "a"}


def test_both_distributions_stand_in_words_and_drawing(material):
    """Take sizes 4, 3, 2, 1; "a" gains two titles and "d" one: 6, 3, 2, 2."""
    page = sizes(material)
    assert "4 occupations: the median one has 2 titles, the largest 4; 1 have a single" in page
    assert "With synonyms put in, the median is 2, the largest 6, and 0 are left" in page
    assert ">taxonomy</text>" in page
    assert ">with synonyms</text>" in page
    assert "var(--blue)" in page
    assert "var(--green)" in page


def test_without_variants_both_are_the_taxonomy(material, change):
    page = sizes(change(synonym_variants=material.synonym_variants.clear()))
    assert "the median is 2, the largest 4, and 1 are left" in page


def test_no_alias_no_figure(material, change):
    assert "The taxonomy has no alias." in sizes(change(aliases=material.aliases.clear()))
