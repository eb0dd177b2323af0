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
from benchmarks.studies.feedback.variants import Variant, variant
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
    said = verdicts_of(VERDICT_ROWS)
    known = {"pipeline": said, "matcher": said.filter("right"), "titles": said.head(1)}
    return Material(strings, tmp_path / "pairs.parquet", known)


def rows_of(name: str, material: Material) -> list[Row]:
    """Titles of anchor and other, whether similar, source."""
    own = variant(name)
    strings, blocks = variant_pairs(own, material, material.known(own, 1), PARAMS, 1)
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
MET = {(title, said) for title in titles_of("baker") for _, said in CONFIRMED}
TOGETHER = {("baking bread", "fresh rolls"), ("fresh rolls", "baking bread")}
CORRECTED = {(t, "nurse on call") for t in titles_of("clerk")} | {
    (t, "flies planes") for t in titles_of("pilot")
}
EXPECTED = {
    "3": (set(), set()),
    "4": (CONFIRMED, REJECTED),
    "4c": (CONFIRMED | CORRECTED, REJECTED),
    "no_rejections": (CONFIRMED | CORRECTED, set()),
    "fine_tuned": (CONFIRMED | CORRECTED, REJECTED),
    "right_only": (CONFIRMED, set()),
    "wrong_only": (set(), REJECTED),
    "corrections_only": (CORRECTED, set()),
    "union": (MET | TOGETHER, REJECTED),
    "of_matcher": (CONFIRMED, set()),
    "by_titles": ({("baker", "baking bread")}, set()),
    "diluted": (set(), set()),
}


@pytest.mark.parametrize("name", EXPECTED)
def test_what_is_learned_of_feedback(name: str, material: Material) -> None:
    rows = rows_of(name, material)
    assert feedback_of(rows, similar=True) == EXPECTED[name][0]
    assert feedback_of(rows, similar=False) == EXPECTED[name][1]


@pytest.mark.parametrize(
    ("name", "share"),
    [("4", 0.2), ("4c", 0.2), ("no_rejections", 0.2), ("share_05", 0.05), ("share_50", 0.5)],
)
def test_shares(name: str, share: float, material: Material) -> None:
    """The feedback's share of the similar pairs is what the parameters or the variant say."""
    counts = Counter(source for _, _, similar, source in rows_of(name, material) if similar)
    assert counts["feedback"] == new_pairs(counts["base"] + counts["extra_words"], share)
    assert counts["feedback"] / counts.total() == pytest.approx(share, abs=0.01)


def test_diluted_has_as_many_similar_pairs_as_mix_4_and_none_of_feedback(
    material: Material,
) -> None:
    """Verdicts outrank mined pairs in 4 alone; here the base's come again in their place."""
    before, after = rows_of("3", material), rows_of("diluted", material)
    assert after[: len(before)] == before
    again = after[len(before) :]
    learned = [
        row for row in rows_of("outranked_kept", material) if row[2] and row[3] == "feedback"
    ]
    assert len(again) == len(learned) > 0
    assert all(similar and source == "base" for _, _, similar, source in again)


def test_feedback_alone_has_no_other_similar_pairs(material: Material) -> None:
    rows = rows_of("feedback_alone", material)
    assert {source for _, _, similar, source in rows if similar} == {"feedback"}
    assert feedback_of(rows, similar=False) == REJECTED


def test_noise_calls_right_wrong_and_wrong_right(material: Material) -> None:
    """As many verdicts, about the share of them flipped, and no correction of what is right."""
    names = [f"noisy_{share}" for share in (10, 30)]
    before = material.verdicts["pipeline"]
    several = [material.known(variant(name), seed) for name in names for seed in range(40)]
    shares = [float((known["right"] != before["right"]).mean()) for known in several]  # type: ignore[arg-type]
    assert np.mean(shares[:40]) == pytest.approx(0.1, abs=0.05)
    assert np.mean(shares[40:]) == pytest.approx(0.3, abs=0.1)
    for known in several:
        assert known["raw_title"].equals(before["raw_title"])
        assert not known.filter("right")["corrected_occupation_id"].count()


def test_names_that_are_no_variants() -> None:
    with pytest.raises(ValueError, match="choose 3, 4, 4c"):
        variant("verdicts_many")


@pytest.mark.parametrize(("name", "stays"), [("3", True), ("4c", False), ("fine_tuned_kept", True)])
def test_outranked_mined_pairs(name: str, stays: bool, material: Material) -> None:
    rows = rows_of(name, material)
    mined = {other for _, other, _, source in rows if source == "extra_words"}
    assert ("nurse on call" in mined) == stays
    assert {"baker wanted", "pilot (m/f)"} <= mined


def test_few_verdicts_are_drawn_by_the_seed_and_are_among_more(material: Material) -> None:
    def titles(most: int | None, seed: int) -> set[str]:
        return set(material.known(Variant(most=most), seed)["raw_title"])

    some = [titles(most, 1) for most in (0, 1, 2, 4, 5, 1000)]
    assert [len(drawn) for drawn in some] == [0, 1, 2, 4, 5, 5]
    assert all(fewer <= more for fewer, more in pairwise(some))
    assert titles(None, 1) == some[-1]
    assert len({frozenset(titles(2, seed)) for seed in range(9)}) > 1


def test_no_verdict_is_mix_3(material: Material) -> None:
    assert rows_of("verdicts_0", material) == rows_of("3", material)


def test_a_workspace_without_pairs_says_what_to_do(workspace: Path) -> None:
    with pytest.raises(FileNotFoundError, match="make reproduce"):
        read_material(Workspace.read("sample"), {"pipeline"})
