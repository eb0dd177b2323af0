"""Mining: the matcher's verdict worked by hand, which title stands, and what is left out."""

import polars as pl
import pytest
from frames_of import inputs_of, titles_of
from hypothesis import given
from hypothesis import strategies as st

from models.text.titles import normalize_title
from tasks.pipeline.extra_words.mined_inputs import BLOCK, contained_titles, mined_inputs

Mined = tuple[pl.DataFrame, dict[str, int]]


def mined_from(
    occupations: dict[str, list[str]],
    rows: list[tuple[str, str | None]],
    taken: dict[str, set[str]] | None = None,
) -> Mined:
    """Occupations by title; inputs with their label."""
    titles = titles_of((one, title, "train") for title, own in occupations.items() for one in own)
    inputs = inputs_of((raw, label, "train") for raw, label in rows)
    return mined_inputs(inputs, titles, taken or {})


def mined(occupations: dict[str, list[str]], *raw_titles: str) -> Mined:
    return mined_from(occupations, [(raw, None) for raw in raw_titles])


@pytest.mark.parametrize(
    ("other", "held_by", "verdict"),
    [
        ("k xy", ["a"], "agrees"),
        ("k xy", ["b"], "ambiguous"),
        ("k xy", ["a", "b"], "ambiguous"),
        ("k xyz", ["b"], "disagrees"),
        ("k xyz", ["a"], "agrees"),
        ("k", ["b"], "agrees"),
    ],
)
def test_the_matchers_verdict(other: str, held_by: list[str], verdict: str) -> None:
    """The input "cook xyz" has 8 characters and 6 trigrams: sim = 8 − 6 − |T_C| + 3 · shared.

    "cook" has 2 trigrams, both shared: 6. "k xy" has 2, both shared: 6, a tie. "k xyz" has 3, all
    shared: 8. "k" has none: 2.
    """
    mining = mined({"cook": ["a"], other: held_by}, "cook xyz")
    counts = {"agrees": 0, "ambiguous": 0, "disagrees": 0} | {verdict: 1}
    assert {name: mining[1][name] for name in counts} == counts
    assert mining[0]["variant"].to_list() == ["cook xyz"] * (verdict == "agrees")


def test_the_longest_title_with_which_the_matcher_agrees_stands() -> None:
    """The longest of its occupation, be it longer than the matched one or not."""
    titles = {"nurse": ["a"], "ward nurse": ["a"]}
    assert mined(titles, "old ward nurse")[0]["title"].to_list() == ["ward nurse"]
    other = mined({"nurse": ["a"], "ward nurse": ["b"]}, "old ward nurse")
    assert other[0].select("title", "occupation_ids").rows() == [("ward nurse", ["b"])]
    # the matcher takes "nd cooks x", which is not held whole, and with it occupation a
    titles = {"cook": ["a"], "old nurse": ["b"], "nd cooks x": ["a"]}
    third = mined(titles, "old nurse cook and cooks x")
    assert third[0]["title"].to_list() == ["cook"]


def test_of_titles_that_differ_in_punctuation_the_one_the_matcher_takes() -> None:
    """Titles "co-driver" and "codriver" normalize alike; the matcher sees the hyphen."""
    titles = {"codriver": ["a"], "co-driver": ["b"]}
    mining = mined(titles, "old co-driver", "new codriver")
    assert mining[0]["title"].to_list() == ["co-driver", "codriver"]
    both = mined({"codriver": ["a"], "co-driver": ["a"]}, "old codriver")
    assert both[0]["title"].to_list() == ["co-driver"]


def test_labels_and_distinct_inputs() -> None:
    """Of equal inputs the first with a label stands for all; without one the first."""
    rows = [("Old  nurse", None), ("old nurse!", "b"), ("OLD NURSE", "a"), ("New nurse", None)]
    rows += [("NEW nurse", None), ("One  nurse", "a"), ("...", None), ("", "a")]
    mining = mined_from({"nurse": ["a"]}, rows)
    columns = ("raw_title", "variant", "normalized", "label_agrees")
    assert mining[0].select(columns).rows() == [
        ("old nurse!", "old nurse!", "old nurse", False),
        ("New nurse", "new nurse", "new nurse", None),
        ("One  nurse", "one nurse", "one nurse", True),
    ]
    assert mining[1]["inputs"] == 8
    assert mining[1]["distinct"] == 4


def test_every_rule_is_counted() -> None:
    """Seven distinct inputs: one holds nothing, one is a title, one each of two reasons."""
    raw_titles = ["nurse", "cook internal", "old nurse", "Nurse, new", "a nurse", "a nurse b", "x"]
    taken = {"first": {"old nurse", "nurse"}, "second": {"nurse new", "old nurse"}}
    rows = [(raw, None) for raw in raw_titles]
    mining = mined_from({"nurse": ["a"], "intern": ["b"]}, rows, taken)
    counts = {"inputs": 7, "distinct": 7, "hold_a_title": 5, "hold_it_strictly": 4}
    counts |= {"first": 1, "second": 1, "agrees": 2, "ambiguous": 0, "disagrees": 0}
    assert mining[1] == counts
    assert mining[0]["variant"].to_list() == ["a nurse", "a nurse b"]


def test_more_than_one_block() -> None:
    raw_titles = [f"{name} number {n}" for n in range(BLOCK) for name in ("nurse", "cook")]
    mining = mined({"nurse": ["a"], "cook": ["b"]}, *raw_titles)
    assert mining[0]["variant"].to_list() == raw_titles
    assert mining[0]["title"].to_list() == ["nurse", "cook"] * BLOCK


def obvious(text: str, titles: set[str]) -> set[str]:
    """Every title at every place, judged by its two neighbours."""
    contained = set()
    for title in titles:
        for start in range(len(text) - len(title) + 1):
            before, after = text[:start], text[start + len(title) :]
            starts_a_word = before == "" or before[-1] in " /"
            rest = after.lstrip(".")
            ends_a_word = rest == "" or rest[0] in " /"
            if text[start:].startswith(title) and starts_a_word and ends_a_word and text != title:
                contained.add(title)
    return contained


TEXT = st.text("ab+./& ", max_size=14).map(normalize_title)


@pytest.mark.thorough
@given(st.lists(TEXT, max_size=3), st.sets(TEXT.filter(bool), max_size=12))
def test_the_oracle_finds_the_same(inputs: list[str], titles: set[str]) -> None:
    contained = contained_titles(inputs, titles)
    assert [set(some) for some in contained] == [obvious(text, titles) for text in inputs]
    for some in contained:
        assert len(set(some)) == len(some)
        assert [len(title) for title in some] == sorted(map(len, some), reverse=True)


@pytest.mark.parametrize(
    ("text", "title", "held"),
    [
        ("internal auditor", "intern", False),
        ("intern", "intern", False),  # complete, but not strict
        ("c/c++ developer", "c", True),
        ("nurse.london", "nurse", False),
        ("7.5t driver", "5t driver", False),
        ("part II architectural assistant or architect at", "architect", True),  # table 2, paper
        # section 4.2: the plural is no whole word
        ("looking for C++ developers (urgent!)", "c++ developer", False),
    ],
)
def test_cases_worked_by_hand(text: str, title: str, held: bool) -> None:
    assert contained_titles([normalize_title(text)], {title}) == [[title] if held else []]


def test_the_longest_comes_first_and_of_equally_long_ones_the_leftmost() -> None:
    """12 characters, twice 5 (one of them twice in the input), then 4."""
    titles = {"nurse", "cook", "baker", "senior nurse", "junior nurse"}
    contained = contained_titles(["baker cook and senior nurse or nurse"], titles)
    assert contained == [["senior nurse", "baker", "nurse", "cook"]]


def test_a_long_input_is_looked_through_once() -> None:
    """20,000 words among titles of two: a loop over all runs would make 200 million look-ups."""
    titles = CountedSet({"old nurse", "cook"})
    words = " ".join(["word"] * 20_000)
    assert contained_titles([f"{words} old nurse {words}"], titles) == [["old nurse"]]
    assert titles.look_ups < 100_000


class CountedSet(set[str]):
    """Counts how often it is asked."""

    look_ups = 0

    def __contains__(self, title: object) -> bool:
        self.look_ups += 1
        return super().__contains__(title)
