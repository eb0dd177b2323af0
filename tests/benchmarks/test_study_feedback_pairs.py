"""The pairs of each variant, looked at one by one on a toy taxonomy."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from frames_of import variants_of, verdicts_of
from params_of import pairs_params

from benchmarks.studies.feedback.pairs import Material, read_material, variant_pairs
from benchmarks.studies.feedback.variants import variant
from benchmarks.workspace import Workspace
from tasks.files.schemas import STRINGS
from tasks.pairing.drawn_pairs import base_pairs, new_pairs
from tasks.pairing.drawn_pairs import variant_pairs as source_pairs
from tasks.pairing.pair_blocks import write_blocks
from tasks.pairing.strings_table import append, number, variant_strings

PARAMS = pairs_params(rounds=10, verdict_rounds=1000)
FRONTS = ("", "senior ", "junior ")
JOBS = ("baker", "nurse", "pilot", "clerk")
# "nurse on call" is mined for nurse, and people say that it is a clerk
MINED = [("baker", "baker wanted"), ("nurse", "nurse on call"), ("pilot", "pilot (m/f)")]
VERDICT_ROWS = [
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
    mined = variants_of(MINED)
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
        verdicts_of(VERDICT_ROWS),
    )


def rows_of(name: str, material: Material) -> list[Row]:
    """Titles of anchor and other, whether similar, source."""
    own = variant(name)
    strings, blocks = variant_pairs(own, material.drawn(own.most, 1), PARAMS, 1)
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
    "no_rejections": (CONFIRMED | CORRECTED, set()),
    "fine_tuned": (CONFIRMED | CORRECTED, REJECTED),
}


@pytest.mark.parametrize("name", EXPECTED)
def test_what_is_learned_of_feedback(name: str, material: Material) -> None:
    rows = rows_of(name, material)
    assert feedback_of(rows, similar=True) == EXPECTED[name][0]
    assert feedback_of(rows, similar=False) == EXPECTED[name][1]


@pytest.mark.parametrize("name", ["4", "4c", "no_rejections", "fine_tuned_kept"])
def test_shares(name: str, material: Material) -> None:
    """The feedback's share of the similar pairs is what the parameters say."""
    counts = Counter(source for _, _, similar, source in rows_of(name, material) if similar)
    assert counts["feedback"] == new_pairs(counts["base"] + counts["extra_words"], 0.2)
    assert counts["feedback"] / counts.total() == pytest.approx(0.2, abs=0.01)


@pytest.mark.parametrize(("name", "stays"), [("3", True), ("4c", False), ("fine_tuned_kept", True)])
def test_outranked_mined_pairs(name: str, stays: bool, material: Material) -> None:
    rows = rows_of(name, material)
    mined = {other for _, other, _, source in rows if source == "extra_words"}
    assert ("nurse on call" in mined) == stays
    assert {"baker wanted", "pilot (m/f)"} <= mined


def test_few_verdicts_are_drawn_by_the_seed_and_are_among_more(material: Material) -> None:
    def titles(most: int | None, seed: int) -> set[str]:
        return set(material.drawn(most, seed).verdicts["raw_title"])

    some = [titles(most, 1) for most in (0, 1, 2, 4, 5, 1000)]
    assert [len(drawn) for drawn in some] == [0, 1, 2, 4, 5, 5]
    assert all(fewer <= more for fewer, more in pairwise(some))
    assert titles(None, 1) == some[-1]
    assert len({frozenset(titles(2, seed)) for seed in range(9)}) > 1


def test_no_verdict_is_mix_3(material: Material) -> None:
    assert rows_of("verdicts_0", material) == rows_of("3", material)


def test_a_workspace_without_pairs_says_what_to_do(workspace: Path) -> None:
    with pytest.raises(FileNotFoundError, match="make reproduce"):
        read_material(Workspace.read("sample"))
