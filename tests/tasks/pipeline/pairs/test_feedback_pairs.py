"""Pairs from verdicts: by hand, on any resolutions, and which mined pairs are contradicted."""

from collections import Counter
from functools import cache
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from frames_of import resolutions_of, variants_of
from hypothesis import given, settings
from hypothesis import strategies as st
from params_of import pairs_params

from models.text.titles import normalize_title
from tasks.io.schemas import STRINGS
from tasks.pipeline.pairs.drawn_pairs import feedback_pairs, variant_pairs
from tasks.pipeline.pairs.stage import without_contradicted
from tasks.pipeline.pairs.strings import with_feedback_strings, with_variants

# "shared" belongs to two occupations; each occupation has a title of its own
TITLES = {"baker": ["a"], "pastry cook": ["a"], "nurse": ["b"], "shared": ["a", "b"]}
TITLES |= {"pilot": ["c"], "miner": ["d"]}
Row = tuple[str, str, str, bool, str | None]
Named = tuple[str, str, bool, str]


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def aliases() -> pl.DataFrame:
    rows = [(i, title, own, "alias") for i, (title, own) in enumerate(TITLES.items())]
    return pl.DataFrame(rows, schema=dict(STRINGS), orient="row")


def made(
    rows: list[Row], most: int, *, corrections: bool = False, rounds: int = 1000, **changes: Any
) -> tuple[list[Named], pl.DataFrame]:
    """Pairs as (anchor, other, similar, source) with titles instead of ids."""
    resolutions, params = resolutions_of(rows), pairs_params(pairs_per_verdict=rounds, **changes)
    strings = with_feedback_strings(aliases(), resolutions, corrections=corrections)
    blocks = feedback_pairs(strings, resolutions, most, params, rng(), corrections=corrections)
    return [row for table in blocks for row in named(table, strings)], strings


def named(table: pa.Table, strings: pl.DataFrame) -> list[Named]:
    title = strings["title"].to_list()
    rows = zip(*table.to_pydict().values(), strict=True)
    return [(title[anchor], title[other], alike, source) for anchor, other, alike, source in rows]


CORRECT: Row = ("bread maker", "baker", "a", True, None)
INCORRECT: Row = ("sky captain", "nurse", "b", False, None)
CORRECTED: Row = ("bun baker", "pilot", "c", False, "a")


def test_one_correct_and_one_incorrect() -> None:
    """Ten similar pairs, the only one there is; to each one rejection, the only one, and 4 - 1."""
    rows, _ = made([CORRECT, INCORRECT], 10)
    counts = Counter(row for row in rows if row[3] == "feedback")
    learned = [("baker", "bread maker", True), ("nurse", "sky captain", False)]
    assert counts == {(*row, "feedback"): 10 for row in learned}
    base = [row for row in rows if row[3] == "base"]
    assert len(base) == 30
    assert {anchor for anchor, *_ in base} == {"baker"}
    assert {other for _, other, *_ in base} == {"nurse", "pilot", "miner"}


@pytest.mark.parametrize("corrections", [False, True])
def test_a_correction_is_learned_from_in_the_mix_corrections_only(corrections: bool) -> None:
    """The corrected input joins the titles of its right occupation: baker, pastry cook, shared."""
    rows, strings = made([CORRECTED], 300, corrections=corrections)
    counts = Counter(row for row in rows if row[3] == "feedback")
    assert counts.pop(("pilot", "bun baker", False, "feedback")) == 300
    own = strings.filter(pl.col("role") == "feedback")["occupation_ids"].to_list()
    assert own == ([["a"]] if corrections else [[]])
    joined = [(title, "bun baker", True, "feedback") for title in ("baker", "pastry cook")]
    if not corrections:
        assert not counts
        assert len(rows) == 300
        return
    assert set(counts) == {*joined, ("shared", "bun baker", True, "feedback")}
    # 100 each, within 5 standard deviations of sqrt(300 · 2 / 9) = 8.2
    assert all(abs(n - 100) < 41 for n in counts.values())
    assert len(rows) == 5 * 300


def test_inputs_can_meet_titles_and_inputs_of_their_occupation() -> None:
    """Baker, pastry cook, shared and the other input; none is a pair with itself."""
    rows, _ = made([CORRECT, CORRECTED], 400, corrections=True, variant_positive="occupation")
    counts = Counter((anchor, other) for anchor, other, alike, _ in rows if alike)
    inputs = ("bread maker", "bun baker")
    anchors = ("baker", "pastry cook", "shared", *inputs)
    assert set(counts) == {(a, o) for o in inputs for a in anchors if a != o}
    # of five titles each draws one, 200 times; within 5 standard deviations of 5.7
    assert all(abs(n - 40) < 29 for n in counts.values())
    rejected = ("pilot", "bun baker", False, "feedback")
    assert {row for row in rows if row[2:] == (False, "feedback")} == {rejected}
    for anchor, other, *_ in (row for row in rows if row[3] == "base"):
        assert anchor in anchors and other in {"nurse", "pilot", "miner"}
    alone, _ = made([CORRECT, CORRECTED], 400, variant_positive="occupation")
    assert {other for _, other, alike, _ in alone if alike} == {"bread maker"}


def test_few_verdicts_weigh_little() -> None:
    """Three pairs a verdict, though 100 were allowed; the second rejection has no pair to join."""
    rows, _ = made([CORRECT, INCORRECT, CORRECTED], 100, rounds=3)
    assert Counter(row for row in rows if row[3] == "feedback") == {
        ("baker", "bread maker", True, "feedback"): 3,
        ("nurse", "sky captain", False, "feedback"): 3,
        ("pilot", "bun baker", False, "feedback"): 3,
    }
    assert len([row for row in rows if row[3] == "base"]) == 3 * (4 - 1)


def test_one_rejection_among_many_confirmed_weighs_no_more_than_they() -> None:
    """Ten confirmed, two pairs each; the rejection takes the place of a stranger twice."""
    confirmed = [(f"input {number}", "baker", "a", True, None) for number in range(10)]
    rows, _ = made([*confirmed, INCORRECT], 100, rounds=2)
    counts = Counter(other for _, other, alike, source in rows if source == "feedback" and alike)
    assert counts == {f"input {number}": 2 for number in range(10)}
    assert len([row for row in rows if row[2:] == (False, "feedback")]) == 2
    assert len([row for row in rows if row[3] == "base"]) == 20 * 4 - 2


def test_the_share_bounds_many_verdicts_and_all_have_the_same_part() -> None:
    """Of five confirmed inputs 13 pairs: two each, or three."""
    confirmed = [(f"input {number}", "baker", "a", True, None) for number in range(5)]
    rows, _ = made(confirmed, 13)
    counts = Counter(other for _, other, alike, _ in rows if alike)
    assert sorted(counts.values()) == [2, 2, 3, 3, 3]


def test_incorrect_alone_gives_rejections_alone() -> None:
    assert made([INCORRECT], 7)[0] == [("nurse", "sky captain", False, "feedback")] * 7
    assert made([INCORRECT], 0)[0] == []


def test_without_dissimilar_pairs_rejections_stay() -> None:
    """Training that finds dissimilar pairs in its batches cannot find these."""
    rows, _ = made([CORRECT, INCORRECT], 5, dissimilar_per_similar=0)
    assert Counter(row[2:] for row in rows) == {(True, "feedback"): 5, (False, "feedback"): 5}


MINED = [("baker", "Bread baker wanted!"), ("nurse", "night nurse"), ("shared", "shared flat")]
MINED += [("pilot", "baker and pilot"), ("baker", "baker and pilot")]


@cache
def pairs_of_mix_3(apart: int) -> tuple[pl.DataFrame, list[pa.Table]]:
    """Blocks of mined pairs, and of typos with the same strings, which nothing contradicts."""
    strings, blocks = aliases(), []
    for role in ("typo", "extra_words"):
        variants = variants_of(MINED)
        strings = with_variants(strings, variants, role)
        settings = pairs_params(dissimilar_per_similar=apart)
        blocks += variant_pairs(strings, variants, role, 220, settings, rng())
    return strings, blocks


RAW = ["bread baker wanted", "NIGHT nurse", "shared flat", "Baker and pilot", "never mined"]


@st.composite
def opinions_on_mined(draw: st.DrawFn) -> list[Row]:
    """For each raw title a right occupation or none, and wrong ones; the matched title is free."""
    rows: list[Row] = []
    for raw in RAW:
        right = draw(st.sampled_from([None, None, *"abcd"]))
        if right is not None and draw(st.booleans()):
            rows.append((raw, "baker", right, True, None))
        for wrong in sorted(draw(st.sets(st.sampled_from("abcd"))) - {right}):
            rows.append((raw, "baker", wrong, False, right))
    return rows


@pytest.mark.thorough
@given(opinions_on_mined(), st.booleans(), st.sampled_from([0, 1, 4]))
@settings(max_examples=40)
def test_without_contradicted_equals_the_rule_row_by_row(rows, corrections, apart) -> None:
    """A similar pair stays or goes with its dissimilar ones; of these it has `apart`, in order."""
    strings, blocks = pairs_of_mix_3(apart)

    @cache
    def goes(anchor: str, other: str, source: str) -> bool:
        mine = [row for row in rows if normalize_title(row[0]) == normalize_title(other)]
        right = {occupation for _, _, occupation, is_right, _ in mine if is_right}
        if corrections:
            right |= {other for *_, other in mine if other is not None}
        wrong = {occupation for _, _, occupation, is_right, _ in mine if not is_right}
        own = set(TITLES[anchor])
        return source == "extra_words" and (not right & own if right else bool(wrong & own))

    expected = []
    for table in blocks:
        whole = named(table, strings)
        similar = [row for row in whole if row[2]]
        others = iter(whole[len(similar) :])
        theirs = [[next(others) for _ in range(apart)] for _ in similar]
        assert all(
            row[0] == one[0] for one, rest in zip(similar, theirs, strict=True) for row in rest
        )
        kept = [
            (one, rest)
            for one, rest in zip(similar, theirs, strict=True)
            if not goes(one[0], one[1], one[3])
        ]
        expected.append([one for one, _ in kept] + [row for _, rest in kept for row in rest])
    resolved = resolutions_of(rows)
    left = without_contradicted(iter(blocks), strings, resolved, corrections=corrections)
    assert [named(table, strings) for table in left] == expected
