"""MSRP's format in small and as published."""

from __future__ import annotations

from pathlib import Path

import pytest
from published import DATA, needs

from tasks.io.frames import check
from tasks.papers.similarity.readers.msrp import FILES, read_msrp
from tasks.papers.similarity.readers.scored_pairs import SCORED_PAIRS
from tasks.papers.similarity.readers.semeval import read_semeval
from tasks.tables.rejected import RejectedRows
from tasks.tables.source_files import IngestError

MSRP = DATA / "sts/msrp"
HEADER = "\ufeffQuality\t#1 ID\t#2 ID\t#1 String\t#2 String"


def test_golden(tmp_path: Path) -> None:
    """Read a byte order mark, and a lone double quote, which must not swallow the next lines."""
    rows = [
        HEADER,
        '1\t11\t12\t"We won , he said .\tHe said "we won " .',
        "0.5\t13\t14\ta\tb",
        '0\t15\t16\tNo , said she .\tPrices rose "',
        "\t17\t18\ta\tb",
        "0\t19\t20\ta",
        "",
    ]
    path = tmp_path / "msr.tsv"
    path.write_bytes("\r\n".join(rows).encode())
    rejected = RejectedRows()
    pairs = read_msrp({"valid": path}, rejected)
    assert check(pairs, SCORED_PAIRS, "msrp").rows() == [
        ("msrp", "valid", '"We won , he said .', 'He said "we won " .', 1.0),
        ("msrp", "valid", "No , said she .", 'Prices rose "', 0.0),
    ]
    assert [(line, reason) for _, line, reason, _ in rejected.refused] == [
        (3, "Quality is neither 0 nor 1"),
        (5, "Quality is neither 0 nor 1"),
        (6, "wrong number of fields"),
    ]


def test_errors_say_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "msr.tsv"
    with pytest.raises(IngestError, match=r"missing\. MSRP .*Microsoft Research; the columns must"):
        read_msrp({"test": path}, RejectedRows())
    path.write_text("Quality\tleft\tright\n", encoding="utf-8")
    with pytest.raises(IngestError, match=r"no column \['#1 String', '#2 String'\]"):
        read_msrp({"test": path}, RejectedRows())


@needs(MSRP)
def test_published() -> None:
    """Count 4,076 pairs to train, 500 `valid`, 1,725 to test; Bao et al.: 67 % paraphrases."""
    rejected = RejectedRows()
    pairs = read_msrp({split: MSRP / file for split, file in FILES.items()}, rejected)
    assert rejected.refused == []
    assert pairs["split"].to_list() == ["train"] * 3_576 + ["valid"] * 500 + ["test"] * 1_725
    assert 3_576 + 500 == 4_076
    assert set(pairs["score"]) == {0.0, 1.0}
    assert pairs["score"].mean() == pytest.approx(0.67, abs=0.005)
    assert pairs["left"][0].endswith(
        'whom he called "the witness", of deliberately distorting his evidence.'
    )


@needs(MSRP)
def test_sts_2012_takes_its_test_pairs_from_the_training_pairs() -> None:
    """Find its training pairs in the test, too: who trains on one must not test on the other."""
    rejected = RejectedRows()
    pairs = read_msrp({split: MSRP / file for split, file in FILES.items()}, rejected)
    names = {split: f"2012/MSRpar.{split}" for split in ("train", "test")}
    sts = read_semeval(
        {name: MSRP.parent / "semeval" / f"{name}.tsv" for name in names.values()}, rejected
    )
    own, theirs = (
        {
            split: {frozenset(pair) for pair in frame.filter(split=split)["left", "right"].rows()}
            for split in ("train", "valid", "test")
        }
        for frame in (pairs, sts)
    )
    assert theirs["test"] <= own["train"] | own["valid"]
    assert theirs["train"] <= own["test"]
