"""The stage `synonyms`: its promises on any small taxonomy, and one worked by hand."""

from __future__ import annotations

from itertools import groupby
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
from tasks.pipeline.synonyms.stage import (
    Synonyms,
    composition_queries,
    draw_parts,
    hold_out,
    synonyms,
    twice_exchanged,
)

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


@pytest.mark.parametrize("aliases", [[], [("x", "cook", "train")], [("x", "-", "valid")]])
def test_nothing_to_exchange(aliases: Aliases) -> None:
    for manual in ([], [("nurse", "carer")]):
        made = made_of(aliases, manual)
        assert made.variants.is_empty()
        assert made.queries.is_empty()
        assert len(made.synonyms) == len(manual)


def strings_of(sizes: list[int], not_free: int = 0) -> pl.DataFrame:
    """So many strings of each occupation 0, 1, ..., and some of the first that may not be held."""
    homes = [0] * not_free + [home for home, size in enumerate(sizes) for _ in range(size)]
    return pl.DataFrame(
        {
            "occupation_ids": [[f"o{home:03}"] for home in homes],
            "free": [place >= not_free for place in range(len(homes))],
        },
        schema={"occupation_ids": pl.List(pl.String), "free": pl.Boolean},
    )


@pytest.mark.thorough
@given(
    st.lists(st.integers(0, 20), max_size=12),
    st.integers(0, 4),
    st.sampled_from([0.0, 0.1, 0.25, 0.5, 1.0]),
    st.sampled_from([0, 3, 900]),
    st.sampled_from([0, 4, 900]),
    st.integers(0, 99),
)
@settings(max_examples=60)
def test_sizes(
    sizes: list[int], not_free: int, share: float, most: int, probe: int, seed: int
) -> None:
    """The test is exact, each occupation gives its share of it to within one string."""
    changes = {"test_share": share, "max_test": most, "valid_titles": probe}
    drawn = draw_parts(strings_of(sizes, not_free), synonyms_params(**changes), seed)
    count = {
        split: len(drawn.filter(pl.col("split") == split)) for split in ("test", "valid", "gate")
    }
    total = sum(sizes)
    expected = min(int(share * total), most)
    assert count["test"] == expected
    assert count["valid"] == min(probe, int(share * total), total - expected)
    assert count["gate"] == min(probe, int(share * total), total - expected - count["valid"])
    assert set(drawn.filter(~pl.col("free"))["split"]) <= {"train"}
    for home, size in enumerate(sizes):
        tests = drawn.filter(pl.col("split") == "test", occupation_ids=[f"o{home:03}"])
        assert abs(len(tests) - size * expected / max(total, 1)) < 1


def test_29_of_100() -> None:
    """0.29 · 100 is 28.999999999999996 to a computer."""
    drawn = draw_parts(strings_of([100]), synonyms_params(test_share=0.29), 1)
    assert (drawn["split"] == "test").sum() == 29


def test_every_string_can_be_drawn() -> None:
    """Of 2 occupations with 4 strings, one of each; over 60 seeds all 8 come up, some in no row."""
    strings, params = strings_of([4, 4]), synonyms_params()
    tests = [
        tuple(draw_parts(strings, params, seed)["split"].eq_missing("test").to_list())
        for seed in range(60)
    ]
    assert {sum(mask[:4]) for mask in tests} == {1}
    assert all(any(mask[place] for mask in tests) for place in range(8))
    assert len({place for place, _ in groupby(tests)}) > 8


EXCHANGES = [
    ("night cook", "night chef", "cook", "chef"),
    ("day cook", "day chef", "cook", "chef"),
    ("day chef, old", "day cook, old", "chef", "cook"),
    ("night nurse", "night, aid", "nurse", "aid"),
    ("nurse at night", "night aid", "nurse at night", "night aid"),
]


def held(**changes: Any) -> pl.DataFrame:
    """The last two rows are one string; with `trained_on` as given."""
    frame = pl.DataFrame(
        EXCHANGES, schema=["title", "variant", "phrase", "replacement"], orient="row"
    )
    frame = frame.with_columns(normalized=pl.col("variant").str.replace_all(",", ""))
    owners = [["b"], ["a"], ["a"], ["c"], ["a", "b"]]
    titles = pl.DataFrame({"title": frame["title"], "occupation_ids": owners})
    return hold_out(frame, titles, changes.pop("trained_on", set()), synonyms_params(**changes), 1)


def test_one_string_of_two_titles() -> None:
    """Its first spelling, the occupations of both titles; and in which order strings come."""
    strings = held()
    assert strings["variant"].to_list() == ["night chef", "day chef", "day cook, old", "night, aid"]
    assert strings["occupation_ids"].to_list() == [["b"], ["a"], ["a"], ["a", "b", "c"]]


def test_seen_counts_either_direction_but_only_training_strings() -> None:
    """Three strings are not free, so they train; the fourth is the only one to be held out."""
    everything = {"night chef", "day chef", "day cook old", "night aid"}
    for held_out, seen in (("day cook old", True), ("night aid", False)):
        strings = held(test_share=1.0, trained_on=everything - {held_out})
        rows = strings.filter(pl.col("split") == "test")
        assert rows.select("normalized", "seen").rows() == [(held_out, seen)]
        assert strings.filter(pl.col("split") == "train")["seen"].all()
    assert not held(test_share=1.0)["seen"].any()


def test_queries() -> None:
    """Numbered within their part; the size is that of the largest gold occupation."""
    strings = pl.DataFrame(
        {
            "variant": ["night, aid", "chef", "old cook", "cook"],
            "normalized": ["night aid", "chef", "old cook", "cook"],
            "occupation_ids": [["a", "b"], ["b"], ["a"], ["c"]],
            "split": ["valid", "test", "train", "test"],
            "seen": [True, False, True, True],
        }
    )
    queries = check(composition_queries(strings, {"a": 7, "b": 2, "c": 3}), QUERIES, "queries")
    assert queries.drop("test", "query_id", "split").rows() == [
        ("chef", "chef", "chef", ["b"], 2, "pair_unseen"),
        ("cook", "cook", "cook", ["c"], 3, "pair_seen"),
        ("night, aid", "night, aid", "night aid", ["a", "b"], 7, "pair_seen"),
    ]
    numbered = [("test", "test-0"), ("test", "test-1"), ("valid", "valid-0")]
    assert queries.select("test", "split", "query_id").rows() == [
        ("composition", split, f"composition-{number}") for split, number in numbered
    ]


STRINGS = pl.DataFrame(
    {
        "normalized": ["night chef", "senior chef", "day chef"],
        "variant": ["night chef", "senior, chef", "day chef"],
        "occupation_ids": [["a"], ["a", "b"], ["c"]],
        "free": [True, True, True],
        "split": ["train", "test", "gate"],
        "seen": [True, True, False],
    }
)
PAIRS = pl.DataFrame(
    [
        (None, "chef", "cook", "manual", None),
        (None, "senior", "head", "manual", None),
        ("a", "night", "late", "induced", 1),
        ("a", "day", "early", "induced", 1),
    ],
    schema=SYNONYMS,
    orient="row",
)


def made(count: int, taken: set[str], seed: int = 1) -> pl.DataFrame:
    return twice_exchanged(STRINGS, PAIRS, taken, count, seed)


def test_by_hand() -> None:
    """With "cook" in it all are taken; and "day" has a synonym in another occupation only."""
    rows = made(9, {"night cook", "senior cook", "day cook"}).sort("variant", descending=True)
    assert rows.columns == STRINGS.columns
    assert rows.select("variant", "normalized", "occupation_ids").rows() == [
        ("late chef", "late chef", ["a"]),
        ("head, chef", "head chef", ["a", "b"]),
    ]
    assert set(rows["split"]) == {"gate"}
    assert rows["seen"].is_null().all()


@pytest.mark.parametrize("seed", range(5))
def test_one_of_each_title_and_no_more_than_asked_for(seed: int) -> None:
    """Three titles, of which two have two ways on."""
    everything = made(9, set(), seed)
    assert len(everything) == 3
    assert not set(everything["normalized"]) & set(STRINGS["normalized"])
    assert len(made(2, set(), seed)) == 2
    assert made(0, set(), seed).is_empty()
    assert made(2, set(), seed).equals(made(2, set(), seed))
