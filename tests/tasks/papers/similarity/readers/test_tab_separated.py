"""SICK, MSRP and SimLex-999 in small and as published; the faults that any scored pair can have."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from published import DATA, needs

from tasks.io.frames import check
from tasks.papers.similarity.readers.scored_pairs import RANGES, SCORED_PAIRS, score_range
from tasks.papers.similarity.readers.semeval import read_semeval
from tasks.papers.similarity.readers.tab_separated import MSRP, SICK, SIMLEX, read_pairs
from tasks.tables.rejected import NOTICES, RejectedRows
from tasks.tables.source_files import IngestError

SICK_FILES, MSRP_FILES = DATA / "sts/sick2014", DATA / "sts/msrp"
SIMLEX_FILE = DATA / "word_similarity/SimLex-999.txt"
SICK_HEADER = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment"
MSRP_HEADER = "\ufeffQuality\t#1 ID\t#2 ID\t#1 String\t#2 String"


def read_sick(tmp_path: Path, *rows: str, split: str = "test") -> tuple[pl.DataFrame, RejectedRows]:
    """Read one file with the publisher's header and line ends."""
    path = tmp_path / "SICK.txt"
    path.write_bytes("\r\n".join([SICK_HEADER, *rows, ""]).encode("utf-8", "surrogateescape"))
    rejected = RejectedRows()
    return read_pairs(SICK, {split: path}, rejected), rejected


def test_sick_in_small(tmp_path: Path) -> None:
    """Strip outer white space; quotes, case and equal rows stay."""
    row = '7\t"A boy runs \tNobody is running\t3.25\tNEUTRAL'
    pairs, rejected = read_sick(tmp_path, row, row, "8\ta\tb\t5\tENTAILMENT")
    pair = ("sick", "test", '"A boy runs', "Nobody is running", 3.25)
    assert check(pairs, SCORED_PAIRS, "sick").rows() == [
        pair,
        pair,
        ("sick", "test", "a", "b", 5.0),
    ]
    assert (rejected.refused, rejected.rows) == ([], {"SICK.txt": 3})


def test_every_fault_is_refused_alone(tmp_path: Path) -> None:
    faults = {
        "1\t \tb\t3\tNEUTRAL": "empty left",
        "2\ta\t\t3\tNEUTRAL": "empty right",
        "3\ta\tb\t\tNEUTRAL": "empty score",
        "4\ta\tb\tthree\tNEUTRAL": "score is no number",
        "5\ta\tb\tnan\tNEUTRAL": "score is no number",
        "6\ta\tb\t1_1\tNEUTRAL": "score is no number",
        "7\ta\tb\t0.9\tNEUTRAL": "score outside the data set's range",
        "8\ta\tb\t5.01\tNEUTRAL": "score outside the data set's range",
        "9\ta\tb\t-3\tNEUTRAL": "score outside the data set's range",
        "10\ta\tb\t3": "wrong number of fields",
        "11\ta\tb\t3\tNEUTRAL\t": "wrong number of fields",
        "12\t\udcff\tb\t3\tNEUTRAL": "bytes that are not text",
        "": "empty row",
    }
    pairs, rejected = read_sick(tmp_path, "0\tx\ty\t1\tNEUTRAL", *faults, "14\ty\tz\t5\tNEUTRAL")
    assert pairs["left"].to_list() == ["x", "y"]
    assert [(line, reason) for _, line, reason, _ in rejected.refused] == list(
        enumerate(faults.values(), start=3)
    )
    assert rejected.refused[4][3] == "5\ta\tb\tnan\tNEUTRAL"
    assert not {"empty score", "score is no number"} & NOTICES


def test_errors_of_sick_say_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(IngestError, match=r"none\.txt is missing\. SICK .*SemEval 2014"):
        read_pairs(SICK, {"test": tmp_path / "none.txt"}, RejectedRows())
    with pytest.raises(IngestError, match="sick has no part 'trial'; name it one of"):
        read_sick(tmp_path, "1\ta\tb\t3\tNEUTRAL", split="trial")
    with pytest.raises(IngestError, match=r"no scored pair .*\{'empty score': 1\}; check that"):
        read_sick(tmp_path, "1\ta\tb\t\tNEUTRAL")
    (tmp_path / "other.txt").write_text("a,b\n", encoding="utf-8")
    with pytest.raises(IngestError, match=r"no column \['sentence_A'.*must be the tab-separated"):
        read_pairs(SICK, {"test": tmp_path / "other.txt"}, RejectedRows())


def test_ranges() -> None:
    assert score_range("sick") == (1, 5)
    assert score_range("sts2012/MSRpar") == RANGES["sts"] == (0, 5)
    with pytest.raises(IngestError, match=r"no range of scores is known for 'stsb', only for \["):
        score_range("stsb")


@needs(SICK_FILES)
def test_sick_as_published() -> None:
    """Count 4,500, 500 and 4,927 pairs, all scored; 73 test pairs are training pairs too."""
    rejected = RejectedRows()
    pairs = read_pairs(
        SICK, {split: SICK_FILES / file for split, file in SICK.files.items()}, rejected
    )
    assert rejected.refused == []
    assert pairs["split"].to_list() == ["train"] * 4_500 + ["valid"] * 500 + ["test"] * 4_927
    assert pairs["score"].min() == 1
    assert pairs["score"].max() == 5
    assert pairs.row(0)[2:] == (
        "A group of kids is playing in a yard and an old man is standing in the background",
        "A group of boys in a yard is playing and a man is standing in the background",
        4.5,
    )
    unordered = {
        split: {frozenset(pair) for pair in rows.select("left", "right").iter_rows()}
        for (split,), rows in pairs.group_by("split")
    }
    assert len(unordered["test"] & unordered["train"]) == 73


def test_msrp_in_small(tmp_path: Path) -> None:
    """Read a byte order mark, and a lone double quote, which must not swallow the next lines."""
    rows = [
        MSRP_HEADER,
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
    pairs = read_pairs(MSRP, {"valid": path}, rejected)
    assert check(pairs, SCORED_PAIRS, "msrp").rows() == [
        ("msrp", "valid", '"We won , he said .', 'He said "we won " .', 1.0),
        ("msrp", "valid", "No , said she .", 'Prices rose "', 0.0),
    ]
    assert [(line, reason) for _, line, reason, _ in rejected.refused] == [
        (3, "Quality is neither 0 nor 1"),
        (5, "Quality is neither 0 nor 1"),
        (6, "wrong number of fields"),
    ]


def test_errors_of_msrp_say_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "msr.tsv"
    with pytest.raises(IngestError, match=r"missing\. MSRP .*Microsoft Research; the columns must"):
        read_pairs(MSRP, {"test": path}, RejectedRows())
    path.write_text("Quality\tleft\tright\n", encoding="utf-8")
    with pytest.raises(IngestError, match=r"no column \['#1 String', '#2 String'\]"):
        read_pairs(MSRP, {"test": path}, RejectedRows())


@needs(MSRP_FILES)
def test_msrp_as_published() -> None:
    """Count 4,076 pairs to train, 500 `valid`, 1,725 to test; Bao et al.: 67 % paraphrases."""
    rejected = RejectedRows()
    pairs = read_pairs(
        MSRP, {split: MSRP_FILES / file for split, file in MSRP.files.items()}, rejected
    )
    assert rejected.refused == []
    assert pairs["split"].to_list() == ["train"] * 3_576 + ["valid"] * 500 + ["test"] * 1_725
    assert 3_576 + 500 == 4_076
    assert set(pairs["score"]) == {0.0, 1.0}
    assert pairs["score"].mean() == pytest.approx(0.67, abs=0.005)
    assert pairs["left"][0].endswith(
        'whom he called "the witness", of deliberately distorting his evidence.'
    )


@needs(MSRP_FILES)
def test_sts_2012_takes_its_test_pairs_from_the_training_pairs() -> None:
    """Find its training pairs in the test, too: who trains on one must not test on the other."""
    rejected = RejectedRows()
    pairs = read_pairs(
        MSRP, {split: MSRP_FILES / file for split, file in MSRP.files.items()}, rejected
    )
    names = {split: f"2012/MSRpar.{split}" for split in ("train", "test")}
    sts = read_semeval(
        {name: MSRP_FILES.parent / "semeval" / f"{name}.tsv" for name in names.values()}, rejected
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


def test_simlex_in_small(tmp_path: Path) -> None:
    path = tmp_path / "SimLex.txt"
    path.write_bytes(
        b"word1\tword2\tPOS\tSimLex999\tSD(SimLex)\r\n"
        b"old\tnew\tA\t1.58\t0.41\r\n"
        b"go\tcome\tV\t10.1\t0.41\r\n"
        b"happy\tglad\tA\t9.17"
    )
    rejected = RejectedRows()
    pairs = check(read_pairs(SIMLEX, {"test": path}, rejected), SCORED_PAIRS, "simlex")
    assert pairs.rows() == [("simlex", "test", "old", "new", 1.58)]
    assert [(line, reason) for _, line, reason, _ in rejected.refused] == [
        (3, "score outside the data set's range"),
        (4, "wrong number of fields"),
    ]


def test_a_missing_file_of_simlex_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(IngestError, match=r"missing\. SimLex-999 .*from the archive"):
        read_pairs(SIMLEX, {"test": tmp_path / "none.txt"}, RejectedRows())


@needs(SIMLEX_FILE)
def test_simlex_as_published() -> None:
    """Count 999 pairs, none twice, scores from 0.23 to 9.8 of 10."""
    rejected = RejectedRows()
    pairs = read_pairs(SIMLEX, {"test": SIMLEX_FILE}, rejected)
    assert rejected.refused == []
    assert pairs.height == 999
    assert pairs.select("left", "right").is_unique().all()
    assert (pairs["score"].min(), pairs["score"].max()) == (0.23, 9.8)
    assert pairs.row(0) == ("simlex", "test", "old", "new", 1.58)
