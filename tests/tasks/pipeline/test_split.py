"""The split: no query is a training string, and the rules of who may be held out."""

from collections import Counter
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.text.titles import clean_title, normalize_title
from tasks.io.frames import check
from tasks.io.schemas import ALIASES, INPUTS, QUERIES, READINGS, SPLIT_ALIASES, SPLIT_INPUTS, TITLES
from tasks.pipeline.split import Split, SplitParams, distinct_titles, split


def params(**changes: Any) -> SplitParams:
    values = {"heldout_min_titles": 3, "valid_min_titles": 4, "gate_min_titles": 5}
    values |= {"annotations_share": 0.4, "gate_share": 0.2, "valid_share": 0.2}
    return SplitParams(**values | changes)


def aliases_of(titles: dict[str, list[str]]) -> pl.DataFrame:
    """The first title of each occupation is its label."""
    rows = [(o, title, "en", i == 0) for o, own in titles.items() for i, title in enumerate(own)]
    return pl.DataFrame(rows, schema=dict(ALIASES), orient="row")


def inputs_of(rows: list[tuple[str, str | None]]) -> pl.DataFrame:
    numbered = [(i, title, occupation) for i, (title, occupation) in enumerate(rows)]
    return pl.DataFrame(numbered, schema=dict(INPUTS), orient="row")


# few words and signs that normalize away: titles collide within and across occupations
TITLE = st.builds(
    lambda front, word, end: f"{front}{word}{end}",
    st.sampled_from(["", "Senior ", "co-", "  "]),
    st.sampled_from(["Baker", "baker", "nurse", "PILOT", "clerk", "mi-ner", "miner", "cook"]),
    st.sampled_from(["", "!", " (m/w)", " II"]),
)
OWN = st.lists(TITLE, min_size=1, max_size=8, unique=True)
TAXONOMY = st.dictionaries(st.sampled_from("abcdef"), OWN, min_size=1)


@st.composite
def cases(draw: st.DrawFn) -> tuple[pl.DataFrame, pl.DataFrame]:
    taxonomy = draw(TAXONOMY)
    label = st.sampled_from([None, *taxonomy])
    return aliases_of(taxonomy), inputs_of(draw(st.lists(st.tuples(TITLE, label), max_size=16)))


@pytest.mark.thorough
@given(cases(), st.integers(0, 99))
@settings(max_examples=40)
def test_the_promises(case: tuple[pl.DataFrame, pl.DataFrame], seed: int) -> None:
    aliases, inputs = case
    parts = split(aliases, inputs, params(), seed)
    check(parts.aliases, SPLIT_ALIASES, "aliases")
    check(parts.titles, TITLES, "titles")
    check(parts.inputs, SPLIT_INPUTS, "inputs")
    check(parts.queries, QUERIES, "queries")
    assert parts.aliases.select(list(ALIASES)).equals(aliases)
    assert parts.inputs.select(list(INPUTS)).equals(inputs)
    readings(parts)
    titles_of_the_taxonomy(parts)
    no_query_is_a_training_string(parts)
    held_out_aliases(parts)
    parts_of_inputs(parts)
    golds(parts)


def readings(parts: Split) -> None:
    for frame, column in (
        (parts.aliases, "title"),
        (parts.inputs, "raw_title"),
        (parts.queries, "raw_title"),
    ):
        for raw, cleaned, normalized in frame.select(column, *READINGS).iter_rows():
            assert (cleaned, normalized) == (clean_title(raw), normalize_title(raw))


def titles_of_the_taxonomy(parts: Split) -> None:
    """Once for all spellings, in the order of the first, and every alias has its title's split."""
    assert distinct_titles(parts.aliases).equals(parts.titles)
    sizes = Counter(parts.aliases["occupation_id"])
    owners: dict[str, set[str]] = {}
    for occupation, title in parts.aliases.select("occupation_id", "title").iter_rows():
        owners.setdefault(clean_title(title), set()).add(occupation)
    assert parts.titles.drop("split").rows() == [
        (title, normalize_title(title), "en", sorted(own), max(sizes[one] for one in own))
        for title, own in owners.items()
    ]
    split_of = dict(parts.titles.select("title", "split").iter_rows())
    for title, name in parts.aliases.select("title", "split").iter_rows():
        assert split_of[clean_title(title)] == name


def no_query_is_a_training_string(parts: Split) -> None:
    train = parts.aliases.filter(pl.col("split") == "train")["title"]
    trained = {normalize_title(title) for title in train}
    queries = {normalize_title(raw_title) for raw_title in parts.queries["raw_title"]}
    assert not trained & queries
    titles = parts.titles.filter(pl.col("split") == "train")["normalized"]
    assert set(titles) == trained


def held_out_aliases(parts: Split) -> None:
    """By brute force: at most one of each part, from large enough occupations, never a label."""
    limits = {"heldout_alias": 3, "valid": 4, "gate": 5}
    sizes = Counter(parts.aliases["occupation_id"])
    normalized = Counter(normalize_title(title) for title in parts.aliases["title"])
    held = parts.aliases.filter(pl.col("split") != "train")
    for occupation, title, _, preferred, name in held.select(*ALIASES, "split").iter_rows():
        assert not preferred
        assert sizes[occupation] >= limits[name]
        assert normalized[normalize_title(title)] == 1
    assert held.select("occupation_id", "split").is_unique().all()
    for occupation, own in parts.aliases.group_by("occupation_id"):
        free = own.filter(~pl.col("preferred"))["title"]
        count = sum(normalized[normalize_title(title)] == 1 for title in free)
        given_away = Counter(own["split"])
        for turn, (name, limit) in enumerate(limits.items(), start=1):
            assert given_away[name] == (len(own) >= limit and count >= turn), occupation


def parts_of_inputs(parts: Split) -> None:
    known = {normalize_title(title) for title in parts.aliases["title"]}
    together: dict[str, set[str]] = {}
    for _, raw_title, occupation, name in parts.inputs.select(*INPUTS, "split").iter_rows():
        if occupation is None:
            assert name == "unlabelled"
        elif normalize_title(raw_title) in known:
            assert name == "known"
        else:
            assert name in {"annotations", "gate", "valid", "train"}
            together.setdefault(normalize_title(raw_title), set()).add(name)
    assert all(len(of_equal_inputs) == 1 for of_equal_inputs in together.values())


def golds(parts: Split) -> None:
    """Queries are the rows of the parts test, valid and gate, each with its own occupation."""
    part_of = {"heldout_alias": "test", "annotations": "test", "valid": "valid", "gate": "gate"}
    sizes = Counter(parts.aliases["occupation_id"])
    expected = Counter(
        (test, part_of[split], title, occupation, sizes[occupation], source)
        for test, source, frame in (
            ("heldout_alias", "alias", parts.aliases.select("title", "occupation_id", "split")),
            ("annotations", "input", parts.inputs.select("raw_title", "occupation_id", "split")),
        )
        for title, occupation, split in frame.iter_rows()
        if split in part_of
    )
    columns = ["test", "split", "raw_title", "occupation_ids", "occupation_size", "source"]
    rows = parts.queries.select(columns).iter_rows()
    assert expected == Counter((t, p, r, *gold, s, source) for t, p, r, gold, s, source in rows)
    assert parts.queries["query_id"].is_unique().all()


TAXONOMY_OF_SIX = {o: [f"{o}{word}" for word in "ABCDEF"] for o in "uvwxyz"}


def test_the_part_of_an_input_does_not_depend_on_the_order_of_rows() -> None:
    aliases = aliases_of(TAXONOMY_OF_SIX)
    inputs = inputs_of([(f"input {i}", "u") for i in range(40)])
    one = split(aliases, inputs, params(), 1).inputs
    other = split(aliases, inputs.reverse(), params(), 1).inputs
    assert other.sort("input_id").equals(one)


def test_shares() -> None:
    """Of 2,000 inputs 40 % annotations, 20 % gate, 20 % valid and the rest, within 5 deviations."""
    inputs = inputs_of([(f"input {i}", "u") for i in range(2000)])
    parts = Counter(split(aliases_of(TAXONOMY_OF_SIX), inputs, params(), 1).inputs["split"])
    assert all(
        abs(parts[split] - share * 2000) < 5 * (2000 * share * (1 - share)) ** 0.5
        for split, share in (("annotations", 0.4), ("gate", 0.2), ("valid", 0.2), ("train", 0.2))
    )


def test_a_title_of_two_languages_is_held_out_in_none() -> None:
    """It stands once among the titles, in the first of its languages."""
    shared = ["barista", "espresso maker", "coffee server", "bar hand", "counter hand"]
    english = aliases_of({"a": shared})
    also = english.with_columns(language=pl.lit("it"), preferred=pl.lit(False))
    parts = split(pl.concat([english, also]), inputs_of([]), params(), 1)
    assert set(parts.aliases["split"]) == {"train"}
    assert parts.titles["title"].to_list() == shared
    assert set(parts.titles["language"]) == {"en"}
