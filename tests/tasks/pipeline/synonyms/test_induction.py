"""Induction: a taxonomy worked by hand, all pairs by brute force, and each rule by itself."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import combinations
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from params_of import synonyms_params

from tasks.pipeline.synonyms.induction import RULES, Induction, induce

Passed = dict[tuple[str, str, str], int]


def induced(
    rows: list[tuple[str, str]], others: set[str] | None = None, **changes: Any
) -> Induction:
    """From (occupation, normalized title), and titles that stand outside the training titles."""
    titles = pl.DataFrame(
        rows, schema={"occupation_id": pl.String, "normalized": pl.String}, orient="row"
    )
    taxonomy = {title for _, title in rows} | (others or set())
    return induce(titles, taxonomy, synonyms_params(**changes))


def passed(induction: Induction) -> Passed:
    return {
        (one, phrase, replacement): n
        for one, phrase, replacement, n in induction.passed.iter_rows()
    }


BY_HAND = [
    ("dev", "c++ developer"),
    ("dev", "c++ programmer"),
    ("dev", "java developer"),
    ("dev", "java programmer"),
    ("dev", "senior web developer"),
    ("dev", "senior web coder"),
    ("dev", "lead architect of systems"),
    ("dev", "lead r&d"),
    ("cook", "pastry cook"),
    ("cook", "pastry chef"),
    ("cook", "chef"),
    ("cook", "c++ cook"),
]


def test_worked_by_hand() -> None:
    """Eight candidates, three of which pass.

    dev, after "c++" and after "java": developer = programmer, in 2 contexts. Before "developer":
    c++ = java, c++ = "senior web", java = "senior web". Before "programmer": c++ = java again.
    After "senior web": coder = developer; after "senior" alone the remainders "web developer" and
    "web coder" have "web" in common, so they are none. After "lead": "architect of systems" = r&d.
    cook, after "pastry": chef = cook. Before "cook": c++ = pastry. In all 1 + 3 + 1 + 1 + 2 = 8.
    chef is a title: 1 isolated. A + or & stands in three with c++ and in r&d: 4 (the part of three
    words is refused for its partner first). So 8 - 1 - 4 = 3 pass.
    """
    induction = induced(BY_HAND)
    assert passed(induction) == {
        ("dev", "coder", "developer"): 1,
        ("dev", "developer", "programmer"): 2,
        ("dev", "java", "senior web"): 1,
    }
    assert induction.counts == {
        "candidates": 8,
        "isolated": 1,
        "special_characters": 4,
        "too_long": 0,
    }


def test_each_rule() -> None:
    """One pair, refused by one rule at a time; a part may be a title of another occupation."""
    pair = [("x", "night nurse"), ("x", "night care aid")]
    assert passed(induced(pair)) == {("x", "care aid", "nurse"): 1}
    for others, changes, counts in (
        ({"nurse"}, {}, (1, 1, 0, 0)),
        ({"care aid"}, {"max_part_words": 1}, (1, 1, 0, 0)),
        (set(), {"max_part_words": 1}, (1, 0, 0, 1)),
    ):
        induction = induced(pair, others, **changes)
        assert induction.passed.is_empty()
        assert tuple(induction.counts.values()) == counts
    special = induced([("x", "night nurse"), ("x", "night care/aid")])
    assert special.counts["special_characters"] == 1


def test_letters_of_any_script_are_not_special() -> None:
    """Vowel signs of Devanagari are marks, not letters, and stand in nearly every word."""
    rows = [
        ("x", "मुख्य शिक्षक"),
        ("x", "मुख्य अध्यापिका"),
        ("y", "ältere köchin"),
        ("y", "ältere bäckerin"),
    ]
    assert len(induced(rows).passed) == 2


def test_no_titles_no_pairs() -> None:
    for rows in ([], [("x", "nurse")], [("x", "night nurse")]):
        induction = induced(rows)
        assert induction.passed.columns == ["occupation_id", "phrase", "replacement", "contexts"]
        assert induction.passed.is_empty()
        assert set(induction.counts.values()) == {0}


TITLE = st.lists(st.sampled_from(["a", "b", "c", "d", "e&"]), min_size=1, max_size=5).map(" ".join)
ROWS = st.lists(st.tuples(st.sampled_from("xy"), TITLE), min_size=3, max_size=24)


@pytest.mark.thorough
@given(ROWS, st.sets(TITLE, max_size=3), st.integers(1, 3), st.integers(1, 3))
@settings(max_examples=60)
def test_all_pairs_by_brute_force(
    rows: list[tuple[str, str]], others: set[str], max_shared: int, max_part: int
) -> None:
    """Every two titles: words counted in both; if these begin or end both, the rests are a pair."""
    taxonomy = {title for _, title in rows} | others
    contexts: dict[tuple[str, str, str], set[str]] = defaultdict(set)
    for (occupation, one), (occupation_two, two) in combinations(sorted(set(rows)), 2):
        left, right = one.split(), two.split()
        n = (Counter(left) & Counter(right)).total()
        if occupation == occupation_two and 1 <= n <= max_shared and n < min(len(left), len(right)):
            for shared, parts in (
                ((left[:n], right[:n]), (left[n:], right[n:])),
                ((left[-n:], right[-n:]), (left[:-n], right[:-n])),
            ):
                if shared[0] == shared[1]:
                    phrase, replacement = sorted(map(" ".join, parts))
                    contexts[occupation, phrase, replacement].add(" ".join(shared[0]))
    expected: Passed = {}
    failed: Counter[str] = Counter()
    for key, shared_words in contexts.items():
        parts_of_pair = key[1:]
        if set(parts_of_pair) & taxonomy:
            failed["isolated"] += 1
        elif "&" in "".join(parts_of_pair):
            failed["special_characters"] += 1
        elif max(len(phrase.split()) for phrase in parts_of_pair) > max_part:
            failed["too_long"] += 1
        else:
            expected[key] = len(shared_words)
    induction = induced(rows, others, max_shared_words=max_shared, max_part_words=max_part)
    assert passed(induction) == expected
    assert list(passed(induction)) == sorted(expected)
    assert induction.counts == {"candidates": len(contexts)} | {
        rule: failed[rule] for rule in RULES
    }
