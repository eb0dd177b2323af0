"""Substitution: one exchange a title, on word boundaries, the rest of the title as it was."""

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.text.titles import clean_title, normalize_title
from tasks.io.schemas import SYNONYMS
from tasks.pipeline.synonyms.substitution import substitute


def generated(
    titles: list[tuple[str, list[str]]], pairs: list[tuple[str | None, str, str]]
) -> pl.DataFrame:
    """Pairs of an occupation are induced, with one context; those of none are manual."""
    schema = {"title": pl.String, "occupation_ids": pl.List(pl.String)}
    frame = pl.DataFrame(titles, schema=schema, orient="row")
    rows = [(o, a, b, "induced", 1) if o else (o, a, b, "manual", None) for o, a, b in pairs]
    return substitute(frame, pl.DataFrame(rows, schema=dict(SYNONYMS), orient="row"))


def variants(title: str, *pairs: tuple[str, str]) -> list[str]:
    return generated([(title, ["x"])], [(None, *pair) for pair in pairs])["variant"].to_list()


@pytest.mark.parametrize(
    ("title", "pair", "expected"),
    [
        ("manager, sales (north)", ("sales", "trade"), ["manager, trade (north)"]),
        ("manager, sales (north)", ("north", "south"), ["manager, sales (south)"]),
        ("clerk – buyer", ("buyer", "purchaser"), ["clerk – purchaser"]),
        ("clerk – buyer", ("clerk", "officer"), ["officer – buyer"]),
        ("e-commerce clerk", ("ecommerce", "web"), ["web clerk"]),
        ("developer/programmer", ("developer", "coder"), []),
        ("food & drink buyer", ("food & drink", "grocery"), ["grocery buyer"]),
        ("internal auditor", ("intern", "trainee"), []),
        ("director, sales manager", ("director sales", "head"), ["head manager"]),
    ],
)
def test_punctuation(title: str, pair: tuple[str, str], expected: list[str]) -> None:
    assert variants(title, pair) == expected


def test_a_phrase_that_stands_already_is_not_put_again() -> None:
    """A piece of "staff accountant" is no place for it; the word elsewhere in the title is."""
    pair = ("accountant", "staff accountant")
    assert variants("staff accountant", pair) == ["accountant"]
    assert variants("tax accountant", pair) == ["tax staff accountant"]
    assert variants("accountant, staff accountant", pair) == [
        "staff accountant, staff accountant",
        "accountant, accountant",
    ]


def test_contexts_are_the_largest_of_its_occupations() -> None:
    frame = pl.DataFrame({"title": ["night cook"], "occupation_ids": [["x", "y"]]})
    rows = [("x", "cook", "chef", "induced", 2), ("y", "chef", "cook", "induced", 3)]
    synonyms = pl.DataFrame(rows, schema=dict(SYNONYMS), orient="row")
    assert substitute(frame, synonyms).rows() == [
        ("night cook", "night chef", "night chef", "cook", "chef", "induced", 3)
    ]


PHRASE = st.lists(st.sampled_from("abcd"), min_size=1, max_size=3).map(" ".join)
PAIR = st.tuples(st.sampled_from(["x", "y", None]), PHRASE, PHRASE).filter(lambda p: p[1] != p[2])
WORD = st.sampled_from(["a", "b", "(c)", "d,", "-", "a/b", "a-b", "é."])
TITLE = st.lists(WORD, min_size=1, max_size=6).map(" ".join)


@pytest.mark.thorough
@given(
    st.lists(st.tuples(TITLE, st.sets(st.sampled_from("xy"), min_size=1).map(sorted))),
    st.lists(PAIR, max_size=6),
)
@settings(max_examples=60)
def test_all_exchanges_by_brute_force(titles, pairs) -> None:
    """Every pair at every place of every title, on the normalized words."""
    expected = set()
    for title, occupations in titles:
        words = normalize_title(title).split()
        for occupation, one, two in pairs:
            for phrase, replacement in ((one, two), (two, one)):
                for at in range(len(words)) if occupation in (None, *occupations) else []:
                    if holds(words, at, phrase) and not inside(words, at, phrase, replacement):
                        rest = words[at + len(phrase.split()) :]
                        variant = " ".join([*words[:at], replacement, *rest])
                        kind = "induced" if occupation else "manual"
                        expected.add((title, variant, phrase, replacement, kind))
    made = generated(titles, pairs).drop("contexts")
    columns = ("title", "normalized", "phrase", "replacement", "kind")
    assert set(made.select(columns).iter_rows()) == expected
    assert made["normalized"].to_list() == [normalize_title(text) for text in made["variant"]]
    assert made.is_unique().all()
    assert all(clean_title(variant) == variant for variant in made["variant"])


def holds(words: list[str], at: int, phrase: str) -> bool:
    return at >= 0 and words[at : at + len(phrase.split())] == phrase.split()


def inside(words: list[str], at: int, phrase: str, replacement: str) -> bool:
    """Whether `replacement` stands around the place, holding `phrase` there."""
    return any(
        holds(replacement.split(), back, phrase) and holds(words, at - back, replacement)
        for back in range(len(replacement.split()))
    )
