"""The stage `synonyms`: its promises on any small taxonomy, and one worked by hand."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from frames_of import as_split_gives, queries_that_ask, titles_of, variants_of
from hypothesis import given, settings
from hypothesis import strategies as st
from params_of import synonyms_params

from models.text.titles import clean_title, normalize_title
from tasks.io.frames import check
from tasks.io.schemas import QUERIES, READINGS, SYNONYM_VARIANTS, SYNONYMS
from tasks.pipeline.synonyms.stage import Synonyms, synonyms

Aliases = list[tuple[str, str, str]]


def made_of(
    aliases: Aliases,
    manual: list[tuple[str, str]] | None = None,
    earlier: list[str] | None = None,
    misspelt: list[str] | None = None,
    seed: int = 1,
    **changes: Any,
) -> Synonyms:
    return synonyms(
        titles_of(aliases),
        queries_that_ask(earlier or [], split="gate"),
        variants_of(("a", typo) for typo in misspelt or []),
        manual or [],
        synonyms_params(**{"test_share": 0.3, "valid_titles": 2} | changes),
        seed,
    )


WORDS = st.sampled_from(["a", "B", "c,", "(d)", "e&"])
TITLE = st.lists(WORDS, min_size=1, max_size=4).map(" ".join)
ALIASES = st.lists(
    st.tuples(st.sampled_from("xyz"), TITLE, st.sampled_from(["train", "train", "valid"])),
    min_size=3,
    max_size=24,
    unique=True,
).map(as_split_gives)
PHRASE = st.lists(st.sampled_from("abcgh"), min_size=1, max_size=2).map(" ".join)
MANUAL = st.lists(st.tuples(PHRASE, PHRASE).filter(lambda p: p[0] != p[1]), max_size=4, unique=True)


@pytest.mark.thorough
@given(
    ALIASES,
    MANUAL,
    st.lists(TITLE, max_size=4),
    st.lists(TITLE, max_size=4),
    st.integers(1, 2),
    st.integers(0, 99),
)
@settings(max_examples=40)
def test_the_promises(
    aliases: Aliases,
    manual: list[tuple[str, str]],
    earlier: list[str],
    misspelt: list[str],
    min_contexts: int,
    seed: int,
) -> None:
    made = made_of(aliases, manual, earlier, misspelt, seed, min_contexts=min_contexts)
    check(made.synonyms, SYNONYMS, "synonyms")
    check(made.variants, SYNONYM_VARIANTS, "variants")
    check(made.queries, QUERIES, "queries")
    owners: dict[str, set[str]] = {}
    trained: dict[str, set[str]] = {}
    for occupation, title, split in aliases:
        owners.setdefault(clean_title(title), set()).add(occupation)
        if split == "train":
            trained.setdefault(clean_title(title), set()).add(occupation)
    taken = {normalize_title(title) for title in [*(t for _, t, _ in aliases), *earlier]}
    variants = {normalize_title(variant) for variant in made.variants["variant"]}
    questions = {normalize_title(raw) for raw in made.queries["raw_title"]}
    assert not (variants | questions) & taken
    assert not questions & (variants | {normalize_title(typo) for typo in misspelt})
    assert len(questions) == len(made.queries)
    assert made.queries["query_id"].is_unique().all()
    assert made.variants.select("title", "variant").is_unique().all()
    assert set(made.variants["title"]) <= set(trained)
    for occupation, phrase, replacement, kind, contexts in made.synonyms.iter_rows():
        assert kind == ("manual" if occupation is None else "induced")
        if kind == "manual":
            assert (phrase, replacement) in manual
        else:
            assert contexts >= min_contexts
            assert not {phrase, replacement} & {normalize_title(title) for _, title, _ in aliases}
            assert all(0 < len(text.split()) <= 2 for text in (phrase, replacement))
            assert "&" not in phrase + replacement
    reachable = exchanges(trained, made.synonyms)
    for title, variant, normalized, phrase, replacement, kind in made.variants.iter_rows():
        assert (title, phrase, replacement, kind) in reachable[normalize_title(variant)]
        assert (variant, normalized) == (clean_title(variant), normalize_title(variant))
    in_training = {
        frozenset(row) for row in made.variants.select("phrase", "replacement").iter_rows()
    }
    columns = ["raw_title", *READINGS, "occupation_ids", "source"]
    for raw, cleaned, normalized, gold, source in made.queries.select(columns).rows():
        assert (cleaned, normalized) == (clean_title(raw), normalize_title(raw))
        ways = reachable[normalized]
        assert gold == sorted(set().union(*(owners[title] for title, *_ in ways)))
        if any(
            frozenset((phrase, replacement)) in in_training for _, phrase, replacement, _ in ways
        ):
            assert source == "pair_seen"
    assert variants | questions == set(reachable) - taken


def exchanges(
    trained: dict[str, set[str]], pairs: pl.DataFrame
) -> dict[str, set[tuple[str, str, str, str]]]:
    """Normalized result of each exchange, by brute force, to (title, phrase, replacement, kind)."""
    ways: dict[str, set[tuple[str, str, str, str]]] = {}
    for title, occupations in trained.items():
        words = normalize_title(title).split()
        for occupation, one, two, kind, _ in pairs.iter_rows():
            for phrase, replacement in ((one, two), (two, one)):
                size, long = len(phrase.split()), replacement.split()
                for at in range(len(words) - size + 1):
                    if words[at : at + size] != phrase.split() or (
                        occupation is not None and occupation not in occupations
                    ):
                        continue
                    if any(
                        long[back : back + size] == phrase.split()
                        and at >= back
                        and words[at - back : at - back + len(long)] == long
                        for back in range(len(long))
                    ):
                        continue
                    result = " ".join([*words[:at], replacement, *words[at + size :]])
                    ways.setdefault(result, set()).add((title, phrase, replacement, kind))
    return ways


BY_HAND: Aliases = [
    ("dev", "C++ developer", "train"),
    ("dev", "C++ programmer", "train"),
    ("dev", "Java developer", "train"),
    ("dev", "web programmer", "valid"),
    ("cook", "pastry cook", "train"),
]


def test_worked_by_hand() -> None:
    """Two strings are made and kept: java programmer and pastry chef.

    Induced: developer = programmer after c++ (java = c++ before developer has special characters).
    Generated by it: c++ programmer and c++ developer (titles) and java programmer. By hand, cook =
    chef and web = java: pastry chef and web developer, which is asked already.
    """
    manual = [("cook", "chef"), ("web", "java")]
    made = made_of(BY_HAND, manual, earlier=["Web Developer!"], test_share=0.0)
    assert made.synonyms.rows() == [
        ("dev", "developer", "programmer", "induced", 1),
        (None, "cook", "chef", "manual", None),
        (None, "web", "java", "manual", None),
    ]
    assert made.variants.rows() == [
        ("java developer", *["java programmer"] * 2, "developer", "programmer", "induced"),
        ("pastry cook", *["pastry chef"] * 2, "cook", "chef", "manual"),
    ]
    assert made.queries.is_empty()
    one = {"too_few_contexts": 0, "accepted": 1, "titles": 1}
    two = {"too_few_contexts": 1, "accepted": 0, "titles": 0}
    induced = {"generated": 3, "is_a_title": 2, "is_a_query": 0, "kept": 1}
    by_hand = {"generated": 2, "is_a_title": 0, "is_a_query": 1, "kept": 1}
    none = {"titles": 0, "pair_seen": 0, "pair_unseen": 0}
    assert made.counts == {
        "induction": {
            "candidates": 2,
            "isolated": 0,
            "special_characters": 1,
            "too_long": 0,
            "at_min_contexts": {"1": one, "2": two},
        },
        "gate_queries_of_two_exchanges": 0,
        "manual_pairs": 2,
        "titles": {
            "induced": induced,
            "manual": by_hand,
            "all": {"generated": 5, "is_a_title": 2, "is_a_query": 1, "kept": 2},
        },
        "parts": {
            "train": {"titles": 2, "rows": 2, "misspelt_title_so_no_query": 0},
            "test": none,
            "valid": none,
            "gate": none,
        },
    }


def test_held_out_pairs_are_unseen_and_misspelt_strings_train() -> None:
    """All that may be held out is: pastry chef; java programmer is a misspelt variant already."""
    made = made_of(BY_HAND, [("cook", "chef")], misspelt=["Java programmer"], test_share=1.0)
    assert made.variants["variant"].to_list() == ["java programmer"]
    columns = ("raw_title", "split", "occupation_ids", "occupation_size", "source")
    assert made.queries.select(columns).rows() == [
        ("pastry chef", "test", ["cook"], 1, "pair_unseen")
    ]


def test_the_stricter_row_generates_from_its_pairs_only() -> None:
    """The pair has one context; a second one, web, is made with a title that does not train."""
    for share in (0.0, 1.0):
        strict = made_of(BY_HAND, min_contexts=2, test_share=share)
        assert strict.synonyms.is_empty()
        assert strict.variants.is_empty()
        assert strict.queries.is_empty()
    more = [(occupation, title, "train") for occupation, title, _ in BY_HAND]
    more.append(("dev", "web developer", "train"))
    made = made_of(more, min_contexts=2, test_share=0.0)
    assert made.synonyms.rows() == [("dev", "developer", "programmer", "induced", 2)]
    assert made.variants["variant"].to_list() == ["java programmer"]


def test_a_title_of_two_occupations_takes_the_pairs_of_one_and_its_gold_is_both() -> None:
    """Occupation y has cook = chef; "cook (day)" is of x too, "dawn cook shift" of x alone.

    The size of the queries is that of y, whose held-out title counts.
    """
    rows = [("y", "night cook", "train"), ("y", "night chef", "train"), ("y", "miner", "valid")]
    rows += [(occupation, "Cook (day)", "train") for occupation in "xy"]
    rows.append(("x", "dawn cook shift", "train"))
    assert made_of(rows).synonyms.rows() == [("y", "chef", "cook", "induced", 1)]
    columns = ("raw_title", "occupation_ids", "occupation_size")
    queries = made_of(rows, test_share=1.0).queries
    assert queries.select(columns).rows() == [("chef (day)", ["x", "y"], 4)]
    queries = made_of(rows, [("day", "noon")], test_share=1.0).queries
    assert queries.select(columns).rows() == [
        ("chef (day)", ["x", "y"], 4),
        ("cook (noon)", ["x", "y"], 4),
    ]


@pytest.mark.parametrize("aliases", [[], [("x", "cook", "train")], [("x", "-", "valid")]])
def test_nothing_to_exchange(aliases: Aliases) -> None:
    for manual in ([], [("nurse", "carer")]):
        made = made_of(aliases, manual)
        assert made.variants.is_empty()
        assert made.queries.is_empty()
        assert len(made.synonyms) == len(manual)


def test_the_same_again_and_another_with_another_seed() -> None:
    rows = [(o, f"{o} {a} {b}", "train") for o in "xyz" for a in "klmn" for b in ("p", "q")]
    manual = [("p", "r"), ("k", "s t")]
    one, two, another = (
        made_of(rows, manual),
        made_of(rows, manual),
        made_of(rows, manual, seed=2),
    )
    assert one.variants.equals(two.variants)
    assert one.queries.equals(two.queries)
    assert one.counts == two.counts
    assert not one.queries.equals(another.queries)
