"""Typos: what no variant and no query may be, and who is left out."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from frames_of import as_split_gives, queries_that_ask, titles_of
from hypothesis import given, settings
from hypothesis import strategies as st

from models.text.titles import clean_title, normalize_title
from tasks.io.frames import check
from tasks.io.schemas import QUERIES, READINGS, VARIANTS
from tasks.pipeline.typos.params import TyposParams
from tasks.pipeline.typos.stage import Typos, draw_again, typos

NO_QUERIES = pl.DataFrame(schema=dict(QUERIES))


def params(**changes: Any) -> TyposParams:
    values = {"substituted": 0.2, "deleted": 0.05, "variants": 3, "test_share": 0.05}
    sizes = {"test_titles": 0, "valid_titles": 3, "gate_titles": 2}
    return TyposParams(**values | {"max_draws": 20} | sizes | changes)


SHORT = st.text("ab-! é", min_size=1, max_size=5).filter(lambda t: bool(clean_title(t)))
ALIASES = st.lists(
    st.tuples(st.sampled_from("xyz"), SHORT, st.sampled_from(["train", "train", "valid"])),
    min_size=2,
    max_size=20,
    unique=True,
).map(as_split_gives)


@pytest.mark.thorough
@given(ALIASES, st.lists(SHORT, max_size=6), st.integers(0, 99))
@settings(max_examples=40)
def test_the_promises(rows: list[tuple[str, str, str]], raw_titles: list[str], seed: int) -> None:
    """Titles so short that most draws hit a title or a query of the others."""
    made = typos(titles_of(rows), queries_that_ask(raw_titles), params(max_draws=3), seed)
    check(made.variants, VARIANTS, "variants")
    check(made.queries, QUERIES, "queries")
    taxonomy = {normalize_title(title) for _, title, _ in rows}
    questions = {normalize_title(raw) for raw in made.queries["raw_title"]}
    variants = {normalize_title(typo) for typo in made.variants["variant"]}
    assert not questions & taxonomy
    assert not variants & (taxonomy | questions | {normalize_title(raw) for raw in raw_titles})
    assert "" not in questions | variants
    for raw, cleaned, normalized in made.queries.select("raw_title", *READINGS).rows():
        assert (cleaned, normalized) == (clean_title(raw), normalize_title(raw))
    for typo, normalized in made.variants.select("variant", "normalized").rows():
        assert (typo, normalized) == (clean_title(typo), normalize_title(typo))
    train = {clean_title(title) for _, title, split in rows if split == "train"}
    assert set(made.variants["title"]) <= train
    assert made.left_out["variants"] == 3 * len(train) - len(made.variants)
    tests = made.queries.filter(pl.col("split") == "test")
    assert made.left_out["test_queries"] == len(train) - len(tests)
    parts = {split: made.queries.filter(split=split) for split in ("test", "valid", "gate")}
    for split, size in (("valid", 3), ("gate", 2)):
        count = len(parts[split])
        assert made.left_out[f"{split}_queries"] == min(size, len(train)) - count
    strings = [set(frame["normalized"]) for frame in parts.values()]
    assert len(set.union(*strings)) == sum(map(len, strings))  # no part asks another's query


ROWS = [("a", "tutor", "train"), ("b", "TUTOR", "train"), ("b", "head cook", "valid")]
ROWS += [("a", "java developer", "train"), ("c", "head of the department of lifts", "train")]


def made_of(rows: list[tuple[str, str, str]], **changes: Any) -> Typos:
    return typos(titles_of(rows), NO_QUERIES, params(**changes), 1)


def test_gold_and_size_of_queries() -> None:
    """Every occupation that holds the title; the size counts the titles of the largest of them."""
    tests = made_of(ROWS).queries.filter(pl.col("split") == "test")
    assert tests.select("occupation_ids", "occupation_size").rows() == [
        (["a", "b"], 2),
        (["a"], 2),
        (["c"], 1),
    ]
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
    monkeypatch.setattr(
        "tasks.pipeline.typos.stage.corrupt_by_rate", lambda *_, **__: [next(draws)]
    )
    made = made_of([("a", "tutor", "train")], variants=4, valid_titles=0, gate_titles=0)
    assert made.variants.rows() == [("tutor", typo, typo) for typo in ("tutr", "tutr", "tuor")]
    assert made.left_out["variants"] == 1


def test_the_same_again_and_another_with_another_seed() -> None:
    one, two = made_of(ROWS), made_of(ROWS)
    assert one.variants.equals(two.variants)
    assert one.queries.equals(two.queries)
    other = typos(titles_of(ROWS), NO_QUERIES, params(), 2)
    assert not other.variants.equals(one.variants)
    assert not other.queries.equals(one.queries)
