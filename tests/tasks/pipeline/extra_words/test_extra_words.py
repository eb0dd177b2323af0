"""The stage: what the Extra Words test promises, its parts, and what no string of it may be."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import polars as pl
import pytest
from frames_of import as_split_gives, inputs_of, queries_that_ask, titles_of, variants_of
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from models.serving.scores import ScoreRule
from models.serving.search import Search
from models.text.titles import clean_title, normalize_title
from tasks.evaluation.ngram_matcher import NgramMatcher
from tasks.evaluation.ranking import rank_queries
from tasks.evaluation.systems import index_of
from tasks.io.frames import check
from tasks.io.schemas import EXTRA_WORDS_VARIANTS, QUERIES, READINGS, SPLIT_INPUTS, VARIANTS
from tasks.pipeline.extra_words.mined_inputs import contained_titles
from tasks.pipeline.extra_words.stage import (
    ExtraWords,
    ExtraWordsParams,
    extra_words,
    labelled_inputs,
    padded_titles,
)
from tasks.pipeline.extra_words.superfluous import phrases_by_language

NO_INPUTS = pl.DataFrame(schema=dict(SPLIT_INPUTS))
BEST = ScoreRule("best", 0.06)
Title = tuple[str, str, str]
Input = tuple[str, str | None, str]


def params(**changes: Any) -> ExtraWordsParams:
    values: dict[str, object] = {"test_share": 0.4, "valid_share": 0.1, "gate_share": 0.1}
    values |= {"padded": 2, "labelled": 0, "phrases": {"before": [], "after": []}}
    values |= {"phrases_by_language": False}
    return ExtraWordsParams(**values | changes)


def normal(titles: Iterable[str]) -> set[str]:
    return {normalize_title(title) for title in titles}


def made_of(
    titles: pl.DataFrame,
    inputs: pl.DataFrame,
    earlier: tuple[list[str], list[str]] = ([], []),
    seed: int = 1,
    **changes: Any,
) -> ExtraWords:
    queries = queries_that_ask(earlier[0])
    variants = variants_of(("x", variant) for variant in earlier[1])
    return extra_words(titles, inputs, queries, variants, params(**changes), seed)


WORDS = st.lists(
    st.sampled_from(["cook", "Old", "c++", "c", "nurse.", "x/y", "(!)", "-"]), min_size=1
)
TITLE = st.builds(" ".join, WORDS.filter(lambda words: len(words) < 3))
RAW = st.builds(" ".join, WORDS)
SPLITS = st.sampled_from(["train", "train", "heldout_alias"])
LABEL = st.sampled_from(["p", "q", None])
TITLES = st.lists(
    st.tuples(st.sampled_from("pqr"), TITLE, SPLITS), min_size=1, max_size=9, unique=True
).map(as_split_gives)
INPUT = st.tuples(RAW, LABEL, st.sampled_from(["train", "unlabelled"]))
EARLIER = st.tuples(st.lists(RAW, max_size=3), st.lists(RAW, max_size=3))


@pytest.mark.thorough
@given(TITLES, st.lists(INPUT, min_size=6, max_size=24), EARLIER, st.integers(0, 9))
@settings(max_examples=40)
def test_the_promises(
    titles: list[Title], inputs: list[Input], earlier: tuple[list[str], list[str]], seed: int
) -> None:
    made = made_of(titles_of(titles), inputs_of(inputs), earlier, seed)
    check(made.variants, EXTRA_WORDS_VARIANTS, "variants")
    check(made.queries, QUERIES, "queries")
    mined = made.variants.filter(pl.col("kind") == "mined")
    for title, variant, label_agrees in mined.select("title", "variant", "label_agrees").rows():
        assert title in {clean_title(alias) for _, alias, split in titles if split == "train"}
        assert_held_whole(normalize_title(title), normalize_title(variant))
        gold = {occupation for occupation, alias, _ in titles if clean_title(alias) == title}
        labels = {label for raw, label, _ in inputs if clean_title(raw) == variant}
        assert label_agrees in {None if label is None else label in gold for label in labels}
    for variant, normalized in made.variants.select("variant", "normalized").rows():
        assert (variant, normalized) == (clean_title(variant), normalize_title(variant))
    taken = normal(title for _, title, _ in titles) | normal([*earlier[0], *earlier[1]])
    assert not taken & normal(made.variants["variant"])
    train = made.variants.filter(pl.col("split") == "train")
    questions = normal(made.queries["raw_title"])
    assert not questions & normal(train["variant"])
    assert len(questions) == len(made.queries)
    assert set(made.queries["raw_title"]) <= {raw for raw, *_ in inputs}
    for raw, cleaned, normalized in made.queries.select("raw_title", *READINGS).rows():
        assert (cleaned, normalized) == (clean_title(raw), normalize_title(raw))
    assert made.queries["query_id"].is_unique().all()
    assert_shared_out(mined)


def assert_held_whole(title: str, text: str) -> None:
    assert title != text
    places = [i for i in range(len(text)) if text.startswith(title, i)]
    edges = [(text[:i][-1:], text[i + len(title) :].lstrip(".")[:1]) for i in places]
    assert any({before, after} <= {"", " ", "/"} for before, after in edges)


def assert_shared_out(mined: pl.DataFrame) -> None:
    """Borders are rounded, so that a part is its share of the labelled rows to within one."""
    labelled = mined.drop_nulls("label_agrees")
    for split, share in {"test": 0.4, "valid": 0.1, "gate": 0.1, "train": 0.4}.items():
        assert abs(len(labelled.filter(pl.col("split") == split)) - share * len(labelled)) <= 1
    assert set(mined.filter(pl.col("label_agrees").is_null())["split"]) <= {"train"}


@pytest.mark.thorough
@given(
    TITLES.filter(lambda rows: any(split == "train" for *_, split in rows)),
    st.lists(INPUT, min_size=8, max_size=24),
)
@settings(max_examples=30)
def test_the_ngram_matcher_is_right_on_every_query(
    titles: list[Title], inputs: list[Input]
) -> None:
    """By expectation over ties and with several gold occupations, as every table counts."""
    frame = titles_of(titles)
    made = made_of(frame, inputs_of(inputs), test_share=1.0, valid_share=0.0, gate_share=0.0)
    index = index_of(frame)
    search = Search(index, NgramMatcher(index.titles).similarities, BEST)
    scores, _ = rank_queries("ngram", search, made.queries, depth=2)
    assert scores["success_at_1"].to_list() == [1.0] * len(made.queries)


TITLES_OF_TWO = titles_of(
    [
        ("a", "Nurse", "train"),
        ("a", "ward  nurse", "train"),
        ("b", "nurse", "train"),
        ("b", "cook", "train"),
        ("b", "chef", "valid"),
    ]
)
TWENTY = inputs_of(
    [(f"Cook no. {n}", "b" if n % 2 else None, "train") for n in range(10)]
    + [(f"wanted: NURSE {n}", "c", "train") for n in range(10)]
)


def test_queries_variants_and_counts_worked_by_hand() -> None:
    """20 mined, 15 labelled: 6 + 2 (7.5 to 8) + 1 (9 less 8) + 6 and 5 unlabelled ones.

    b has three titles, one of them held out.
    """
    made = made_of(TITLES_OF_TWO, TWENTY, padded=0)
    assert made.metrics["mined"]["by_slice"] == {
        "label_agrees": 5,
        "label_differs": 10,
        "unlabelled": 5,
    }
    assert made.variants["split"].value_counts().sort("split").rows() == [
        ("gate", 1),
        ("test", 6),
        ("train", 11),
        ("valid", 2),
    ]
    assert made.variants["variant"].to_list() == TWENTY["cleaned"].to_list()
    for query in made.queries.iter_rows(named=True):
        nurse = "NURSE" in query["raw_title"]
        number = int(query["raw_title"].split()[-1])
        assert query["occupation_ids"] == (["a", "b"] if nurse else ["b"])
        assert query["occupation_size"] == 3
        assert query["test"] == "extra_words"
        assert nurse or number % 2
        assert query["source"] == ("label_differs" if nurse else "label_agrees")
    tests = made.queries.filter(pl.col("split") == "test")
    assert tests["query_id"].to_list() == [f"extra_words-test-{n}" for n in range(6)]
    unlabelled = made.variants.filter(pl.col("label_agrees").is_null())
    assert unlabelled["split"].to_list() == ["train"] * 5


def test_padded_titles_have_the_words_of_the_training_part_alone() -> None:
    made = made_of(TITLES_OF_TWO, TWENTY, padded=3)
    padded = made.variants.filter(pl.col("kind") == "padded")
    train = made.variants.filter((pl.col("kind") == "mined") & (pl.col("split") == "train"))
    learned = {word for text in train["variant"] for word in clean_title(text).split()}
    assert padded["split"].unique().to_list() == ["train"]
    assert padded["label_agrees"].null_count() == len(padded) > 0
    for title, variant in padded.select("title", "variant").rows():
        assert f" {title} " in f" {variant} "
        assert set(variant.split()) - set(title.split()) <= learned
    assert made.metrics["padded"]["drawn"] == 3 * 3


@pytest.mark.parametrize("split", ["annotations", "gate", "valid", "known"])
def test_other_parts_of_the_inputs_are_not_looked_at(split: str) -> None:
    made = made_of(TITLES_OF_TWO, inputs_of([("old cook", "b", split)]))
    assert len(made.variants) == made.metrics["mined"]["inputs"] == 0


def test_no_inputs_or_no_titles_give_empty_frames() -> None:
    for titles, inputs in ((TITLES_OF_TWO, NO_INPUTS), (titles_of([]), TWENTY)):
        made = made_of(titles, inputs)
        check(made.variants, EXTRA_WORDS_VARIANTS, "variants")
        check(made.queries, QUERIES, "queries")
        assert len(made.variants) == len(made.queries) == 0
        assert made.metrics["padded"]["drawn"] == 0


def test_known_phrases_pad_without_any_input() -> None:
    """A taxonomy alone has none to learn from."""
    phrases = {"before": ["looking for a"], "after": ["(m/f)"]}
    made = made_of(TITLES_OF_TWO, NO_INPUTS, padded=3, phrases=phrases)
    forms = {"looking for a {}", "{} (m/f)", "looking for a {} (m/f)"}
    titles = set(made.variants["title"])
    assert titles
    assert set(made.variants["variant"]) <= {form.format(t) for t in titles for form in forms}
    with pytest.raises(ValidationError, match="no character to put beside a title"):
        params(phrases={"before": [" "], "after": []})


def test_our_phrases_of_the_language_pad_without_any_input() -> None:
    made = made_of(TITLES_OF_TWO, NO_INPUTS, padded=3, phrases_by_language=True)
    words = {word for pair in phrases_by_language()["en"] for text in pair for word in text.split()}
    assert len(made.variants) > 0
    for title, variant in made.variants.select("title", "variant").iter_rows():
        assert {*variant.split()} - {*title.split()} <= words


OWNED = titles_of(
    (occupation, title, "train")
    for occupation, title in (("a", "nurse"), ("a", "staff nurse"), ("b", "cook"), ("b", "chef"))
)
INPUTS = inputs_of(
    [
        ("rgn / nights", "a", "train"),
        ("RGN / Nights!", "a", "train"),  # normalizes to the same
        ("chef de partie", "b", "train"),
        ("something", None, "train"),
        ("cleaner", "c", "train"),  # no title has its occupation
        ("", "a", "train"),
    ]
)


def test_each_rule_of_labelled_inputs() -> None:
    made = labelled_inputs(INPUTS, OWNED, {"chef de partie"}, 50, np.random.default_rng(1))
    check(made, VARIANTS, "variants")
    assert made.sort("title").rows() == [
        ("nurse", "rgn / nights", "rgn / nights"),
        ("staff nurse", "rgn / nights", "rgn / nights"),
    ]


def test_no_title_of_two_occupations_is_drawn() -> None:
    carer = OWNED.head(1).with_columns(title=pl.lit("carer"), occupation_ids=pl.lit(["a", "b"]))
    both = pl.concat([OWNED, carer])
    made = labelled_inputs(INPUTS, both, set(), 50, np.random.default_rng(1))
    assert set(made["title"]) == {"nurse", "staff nurse", "cook", "chef"}


PADDED_TITLE = st.lists(st.sampled_from(["a", "b", "c-d", "e.", "-"]), min_size=1, max_size=3).map(
    " ".join
)
PHRASES = st.lists(st.tuples(PADDED_TITLE, PADDED_TITLE | st.just("")), min_size=1, max_size=4)


def padded(
    titles: list[str], around: list[tuple[str, str]], taken: set[str], copies: int = 1
) -> tuple[pl.DataFrame, dict[str, int]]:
    frame = titles_of(("a", title, "train") for title in titles)
    return padded_titles(
        frame, lambda _: around, {"taken": taken}, copies, np.random.default_rng(1)
    )


@pytest.mark.thorough
@given(
    st.lists(PADDED_TITLE, unique=True, min_size=2),
    PHRASES,
    st.sets(PADDED_TITLE.map(normalize_title)),
)
@settings(max_examples=60)
def test_the_promises_of_padded_titles(
    titles: list[str], around: list[tuple[str, str]], taken: set[str]
) -> None:
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


def test_each_rule_of_padded_titles() -> None:
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
