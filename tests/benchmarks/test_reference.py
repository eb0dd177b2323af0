"""The reference figures on the real files, and the reading of a small copy of their form."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from benchmarks import reference
from models.ngram_matcher import NgramMatcher

ROOT = Path(__file__).parents[2]
DATA = Path(os.environ.get("ROLECALL_DATA", ROOT.parent / "shared" / "data"))

# Measured on the same files by another program, before this one was written.
FIGURES = {
    ("ngram", "success_at_1"): 0.222,
    ("ngram", "success_at_5"): 0.369,
    ("ngram", "success_at_10"): 0.432,
    ("ngram", "mrr"): 0.296,
    ("tfidf", "success_at_1"): 0.232,
    ("tfidf", "success_at_5"): 0.420,
    ("tfidf", "success_at_10"): 0.502,
    ("tfidf", "mrr"): 0.323,
}


def small_copy(folder: Path) -> Path:
    """Two occupations of two aliases in ESCO's form (BOM, CRLF, aliases in one field)."""
    (folder / "esco").mkdir()
    (folder / "jobbert").mkdir()
    (folder / "esco" / "occupations_en.csv").write_bytes(
        b"\xef\xbb\xbfconceptUri,preferredLabel,altLabels\r\n"
        b'u/1,Baker,"bread baker\nBAKER\n"\r\nu/2,cook,"kitchen cook"\r\n'
    )
    (folder / "jobbert" / "titles.csv").write_text(
        ",vacancyTitle,conceptUri\n0, BAKER ,u/1\n1,cook,u/1\n2,xyzw,u/2\n", encoding="utf-8"
    )
    return folder


def test_reads_both_files_and_measures(tmp_path: Path) -> None:
    """Reciprocal ranks: "baker" 1; "cook" labelled baker 1/2.

    "xyzw" has M = 4 and 2 trigrams and shares none, so "cook" (2 trigrams) with 4 − 4 = 0 is ahead
    of "baker" (3): the label cook, 1.
    """
    read = reference.read_reference(small_copy(tmp_path))
    assert read.titles == ["baker", "bread baker", "cook", "kitchen cook"]
    assert read.memberships.sizes.tolist() == [2, 2]
    assert read.queries == ["baker", "cook", "xyzw"]
    done: list[int] = []
    values = reference.measure(read, NgramMatcher(read.titles), done.append)
    assert values["mrr"].tolist() == [1.0, 0.5, 1.0]
    assert values["success_at_1"].tolist() == [1.0, 0.0, 1.0]
    assert values["success_at_5"].tolist() == [1.0, 1.0, 1.0]
    assert done == [3]


def test_blocks_do_not_change_the_values(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read = reference.read_reference(small_copy(tmp_path))
    matcher = NgramMatcher(read.titles)
    whole = reference.measure(read, matcher, lambda done: None)
    monkeypatch.setattr(reference, "BLOCK", 1)
    alone = reference.measure(read, matcher, lambda done: None)
    assert {metric: values.tolist() for metric, values in alone.items()} == {
        metric: values.tolist() for metric, values in whole.items()
    }


@pytest.mark.slow
@pytest.mark.skipif(
    not (DATA / "jobbert" / "titles.csv").is_file(), reason=f"no vacancy titles under {DATA}"
)
def test_figures_are_within_five_thousandths(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("ROLECALL_DATA", str(DATA.resolve()))
    rows = reference.rows()
    measured = {(row["system"], row["metric"]): row["value"] for row in rows}
    assert measured == pytest.approx(FIGURES, abs=0.005)
    assert {row["n"] for row in rows} == {15_463}
    assert all(row["low"] < row["value"] < row["high"] for row in rows)  # type: ignore[operator]
