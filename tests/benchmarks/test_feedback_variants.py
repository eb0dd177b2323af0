"""The pairs of each variant, looked at one by one on a toy taxonomy."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.feedback_variants import VARIANTS, Variant
from benchmarks.noisy_verdicts import noisy
from benchmarks.variant_pairs import Material, known_verdicts, read_material, variant_pairs
from tasks.pair_blocks import write_blocks
from tasks.pairs import base_pairs, new_pairs
from tasks.pairs import variant_pairs as source_pairs
from tasks.schemas import STRINGS, VERDICTS
from tasks.schemas import VARIANTS as VARIANT_FRAME
from tasks.sections import PairsParams, SharesParams
from tasks.strings_table import append, number, variant_strings

PARAMS = PairsParams(
    rounds=10,
    dissimilar_per_similar=4,
    shares=SharesParams(typo=0.0, synonym=0.0, extra_words=0.5, feedback=0.2),
    outranked="dropped",
    row_group=1024,
)
FRONTS = ("", "senior ", "junior ")
JOBS = ("baker", "nurse", "pilot", "clerk")
# "nurse on call" is mined for nurse, and people say that it is a clerk
MINED = [("baker", "baker wanted"), ("nurse", "nurse on call"), ("pilot", "pilot (m/f)")]
GIVEN = [
    ("baking bread", "baker", "baker", True, None),
    ("fresh rolls", "senior baker", "baker", True, None),
    ("nurse on call", "nurse", "nurse", False, "clerk"),
    ("flies planes", "junior clerk", "clerk", False, "pilot"),
    ("something else", "pilot", "pilot", False, None),
]
Row = tuple[str, str, bool, str]


@pytest.fixture
def material(tmp_path: Path) -> Material:
    """Strings and pairs of a stage 3 of base and mined pairs, and five verdicts."""
    aliases = [(0, front + job, [job], "alias") for job in JOBS for front in FRONTS]
    mined = pl.DataFrame(MINED, schema=dict(VARIANT_FRAME), orient="row")
    strings = number(pl.DataFrame(aliases, schema=dict(STRINGS), orient="row"))
    strings = append(strings, variant_strings(mined, strings, "extra_words"))
    rng = np.random.default_rng(1)
    blocks = [
        *base_pairs(strings, PARAMS, rng),
        *source_pairs(strings, mined, "extra_words", 120, PARAMS, rng),
    ]
    write_blocks(blocks, tmp_path / "pairs.parquet")
    return Material(
        strings,
        tmp_path / "pairs.parquet",
        pl.DataFrame(GIVEN, schema=dict(VERDICTS), orient="row"),
    )


def rows_of(name: str, material: Material) -> list[Row]:
    """Titles of anchor and other, whether similar, source."""
    strings, blocks = variant_pairs(VARIANTS[name], material, PARAMS, 1)
    titles = strings["title"].to_list()
    return [
        (titles[row["anchor_id"]], titles[row["other_id"]], row["similar"], row["source"])
        for table in blocks
        for row in table.to_pylist()
    ]


def feedback_of(rows: list[Row], *, similar: bool) -> set[tuple[str, str]]:
    return {(a, o) for a, o, alike, source in rows if source == "feedback" and alike == similar}


def titles_of(job: str) -> set[str]:
    return {front + job for front in FRONTS}


CONFIRMED = {("baker", "baking bread"), ("senior baker", "fresh rolls")}
REJECTED = {
    ("nurse", "nurse on call"),
    ("junior clerk", "flies planes"),
    ("pilot", "something else"),
}
CORRECTED = {(t, "nurse on call") for t in titles_of("clerk")} | {
    (t, "flies planes") for t in titles_of("pilot")
}
EXPECTED = {
    "3": (set(), set()),
    "4": (CONFIRMED, REJECTED),
    "4c": (CONFIRMED | CORRECTED, REJECTED),
    "right_only": (CONFIRMED, set()),
    "wrong_only": (set(), REJECTED),
    "corrections_only": (CORRECTED, set()),
    "no_rejections": (CONFIRMED | CORRECTED, set()),
    "share_05": (CONFIRMED | CORRECTED, REJECTED),
    "share_50": (CONFIRMED | CORRECTED, REJECTED),
    "outranked_kept": (CONFIRMED | CORRECTED, REJECTED),
    "diluted": (set(), set()),
    "fine_tuned": (CONFIRMED | CORRECTED, REJECTED),
    "fine_tuned_feedback_only": (CONFIRMED | CORRECTED, REJECTED),
    "union": (
        CONFIRMED | CORRECTED | {("baking bread", "fresh rolls"), ("fresh rolls", "baking bread")},
        REJECTED,
    ),
}


@pytest.mark.parametrize("name", EXPECTED)
def test_what_is_learned_of_feedback(name: str, material: Material) -> None:
    rows = rows_of(name, material)
    assert feedback_of(rows, similar=True) <= EXPECTED[name][0]
    assert feedback_of(rows, similar=False) == EXPECTED[name][1]
    if name != "share_05":  # too few draws for every pair
        assert feedback_of(rows, similar=True) == EXPECTED[name][0]


@pytest.mark.parametrize("name", ["4c", "right_only", "share_05", "share_50", "outranked_kept"])
def test_shares(name: str, material: Material) -> None:
    """The feedback's share of the similar pairs is what the variant or the parameters say."""
    found = Counter(source for _, _, similar, source in rows_of(name, material) if similar)
    share = VARIANTS[name].share or 0.2
    assert found["feedback"] == new_pairs(found["base"] + found["extra_words"], share)
    assert found["feedback"] / found.total() == pytest.approx(share, abs=0.01)


def test_union_has_as_many_pairs_of_two_inputs_as_of_feedback(material: Material) -> None:
    inputs = {row[0] for row in GIVEN}
    rows = [r for r in rows_of("union", material) if r[2] and r[3] == "feedback"]
    among = sum(anchor in inputs for anchor, *_ in rows)
    assert among == len(rows) - among > 0


@pytest.mark.parametrize(("name", "stays"), [("3", True), ("4c", False), ("outranked_kept", True)])
def test_outranked_mined_pairs(name: str, stays: bool, material: Material) -> None:
    rows = rows_of(name, material)
    mined = {other for _, other, _, source in rows if source == "extra_words"}
    assert ("nurse on call" in mined) == stays
    assert {"baker wanted", "pilot (m/f)"} <= mined


def test_diluted_repeats_base_pairs_and_nothing_else(material: Material) -> None:
    """The counts of stage 3 are kept, and 0.2 of the similar pairs are repeats of its base pairs.

    n = round(0.2 · 240 / 0.8) = 60, of 120 base and 120 mined pairs.
    """
    before, after = rows_of("3", material), rows_of("diluted", material)
    assert after[: len(before)] == before
    added = after[len(before) :]
    base = {row for row in before if row[2] and row[3] == "base"}
    repeated = [row for row in added if row[2]]
    assert len(repeated) == 60
    assert set(repeated) <= base
    assert len(added) == 60 * 5
    owners = {front + job: job for job in JOBS for front in FRONTS}
    for anchor, other, similar, source in added:
        assert source == "base"
        assert (owners[anchor] == owners[other]) == similar


def test_feedback_alone(material: Material) -> None:
    rows = rows_of("fine_tuned_feedback_only", material)
    assert {source for *_, source in rows} == {"feedback"}
    assert rows == [row for row in rows_of("4c", material) if row[3] == "feedback"]
    assert sum(similar for _, _, similar, _ in rows) == len(rows) / 2


VERDICT = st.tuples(st.sampled_from("abc"), st.booleans(), st.sampled_from([None, "d", "e"]))


@given(st.lists(VERDICT, min_size=1, max_size=40), st.sampled_from([0.1, 0.3, 1.0]))
def test_noise(given_rows: list[tuple[str, bool, str | None]], share: float) -> None:
    """By brute force: the stated share is flipped, and of the other corrections as many are new."""
    rows = [
        (f"input {n}", "title", predicted, right, None if right else corrected)
        for n, (predicted, right, corrected) in enumerate(given_rows)
    ]
    before = pl.DataFrame(rows, schema=dict(VERDICTS), orient="row")
    after = noisy(before, share, list("abcdef"), np.random.default_rng(3))
    flipped = changed = untouched = 0
    for old, new in zip(before.rows(named=True), after.rows(named=True), strict=True):
        right, corrected = new.pop("right"), new.pop("corrected_occupation_id")
        was_right, was = old.pop("right"), old.pop("corrected_occupation_id")
        assert new == old
        assert (corrected is None) if right else True
        if right != was_right:
            flipped += 1
            assert right or corrected not in (None, old["predicted_occupation_id"])
        elif corrected != was:
            changed += 1
            assert corrected not in (None, old["predicted_occupation_id"])
        else:
            untouched += was is not None
    assert flipped == round(share * len(rows))
    assert changed == round(share * (changed + untouched))


def test_smaller_noise_is_part_of_larger() -> None:
    rows = [(f"input {n}", "t", "a", n % 2 == 0, None if n % 2 == 0 else "b") for n in range(50)]
    before = pl.DataFrame(rows, schema=dict(VERDICTS), orient="row")

    def flips(share: float) -> set[int]:
        found = noisy(before, share, list("abcdef"), np.random.default_rng(3))
        return set(np.flatnonzero((found["right"] != before["right"]).to_numpy()))

    assert flips(0.0) == set()
    assert flips(0.1) < flips(0.3)


def test_noise_needs_a_third_occupation(material: Material) -> None:
    with pytest.raises(ValueError, match="give 3"):
        noisy(material.verdicts, 0.5, ["a", "b"], np.random.default_rng(1))


def test_noisy_variants_take_the_taxonomys_occupations(material: Material) -> None:
    found = known_verdicts(Variant(noise=1.0), material, 1)
    assert found["right"].to_list() == [not right for *_, right, _ in GIVEN]
    assert set(found["corrected_occupation_id"].drop_nulls()) <= set(JOBS)


def test_a_workspace_without_pairs_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="make reproduce"):
        read_material(tmp_path)
