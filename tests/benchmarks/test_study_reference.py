"""The reference figures on the real files, and the reading of a small copy of their form."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

import pytest
from published import DATA, needs

from benchmarks.studies.reference.measure import measure, read
from models.text.ngram_matcher import NgramMatcher
from tasks.params.whole import load_params

ROOT = Path(__file__).parents[2]

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


def test_reads_both_files(tmp_path: Path) -> None:
    """Two occupations of two aliases in ESCO's form (BOM, CRLF, aliases in one field).

    Reciprocal ranks: "baker" 1; "cook" labelled baker 1/2. "xyzw" has M = 4 and 2 trigrams and
    shares none, so "cook" (2 trigrams) with 4 − 4 = 0 is ahead of "baker" (3): the label cook, 1.
    """
    for folder in ("esco", "jobbert"):
        (tmp_path / folder).mkdir()
    (tmp_path / "esco" / "occupations_en.csv").write_bytes(
        b"\xef\xbb\xbfconceptUri,preferredLabel,altLabels\r\n"
        b'u/1,Baker,"bread baker\nBAKER\n"\r\nu/2,cook,"kitchen cook"\r\n'
    )
    (tmp_path / "jobbert" / "titles.csv").write_text(
        ",vacancyTitle,conceptUri\n0, BAKER ,u/1\n1,cook,u/1\n2,xyzw,u/2\n", encoding="utf-8"
    )
    exam = read(tmp_path, load_params(ROOT / "params.yaml"))
    assert exam.index.titles == ["baker", "bread baker", "cook", "kitchen cook"]
    scores = exam.scores(NgramMatcher(exam.index.titles).similarities)
    assert scores["reciprocal_rank"].to_list() == [1.0, 0.5, 1.0]
    assert scores["success_at_1"].to_list() == [1.0, 0.0, 1.0]
    assert scores["success_at_5"].to_list() == [1.0, 1.0, 1.0]


@pytest.mark.slow
@needs(DATA / "jobbert/titles.csv")
def test_figures_are_within_five_thousandths(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("ROLECALL_DATA", str(DATA))
    rows = [row for batch in measure("esco", Namespace()) for row in batch]
    measured = {(row.system, row.metric): row.value for row in rows}
    assert measured == pytest.approx(FIGURES, abs=0.005)
    assert {row.n for row in rows} == {15_463}
    assert all(row.low < row.value < row.high for row in rows)  # type: ignore[operator]
