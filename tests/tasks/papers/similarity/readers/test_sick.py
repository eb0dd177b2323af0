"""SICK's format in small, the faults that any scored pair can have, and SICK as published."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from published import DATA, needs

from tasks.io.frames import check
from tasks.papers.similarity.readers.scored_pairs import RANGES, SCORED_PAIRS, score_range
from tasks.papers.similarity.readers.sick import FILES, read_sick
from tasks.tables.rejected import NOTICES, RejectedRows
from tasks.tables.source_files import IngestError

SICK = DATA / "sts/sick2014"
HEADER = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment"


def read(tmp_path: Path, *rows: str, split: str = "test") -> tuple[pl.DataFrame, RejectedRows]:
    """Read one file with the publisher's header and line ends."""
    path = tmp_path / "SICK.txt"
    path.write_bytes("\r\n".join([HEADER, *rows, ""]).encode("utf-8", "surrogateescape"))
    rejected = RejectedRows()
    return read_sick({split: path}, rejected), rejected


def test_golden(tmp_path: Path) -> None:
    """Strip outer white space; quotes, case and equal rows stay."""
    row = '7\t"A boy runs \tNobody is running\t3.25\tNEUTRAL'
    pairs, rejected = read(tmp_path, row, row, "8\ta\tb\t5\tENTAILMENT")
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
    pairs, rejected = read(tmp_path, "0\tx\ty\t1\tNEUTRAL", *faults, "14\ty\tz\t5\tNEUTRAL")
    assert pairs["left"].to_list() == ["x", "y"]
    assert [(line, reason) for _, line, reason, _ in rejected.refused] == list(
        enumerate(faults.values(), start=3)
    )
    assert rejected.refused[4][3] == "5\ta\tb\tnan\tNEUTRAL"
    assert not {"empty score", "score is no number"} & NOTICES


def test_errors_say_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(IngestError, match=r"none\.txt is missing\. SICK .*SemEval 2014"):
        read_sick({"test": tmp_path / "none.txt"}, RejectedRows())
    with pytest.raises(IngestError, match="sick has no part 'trial'; name it one of"):
        read(tmp_path, "1\ta\tb\t3\tNEUTRAL", split="trial")
    with pytest.raises(IngestError, match=r"no scored pair .*\{'empty score': 1\}; check that"):
        read(tmp_path, "1\ta\tb\t\tNEUTRAL")
    (tmp_path / "other.txt").write_text("a,b\n", encoding="utf-8")
    with pytest.raises(IngestError, match=r"no column \['sentence_A'.*must be the tab-separated"):
        read_sick({"test": tmp_path / "other.txt"}, RejectedRows())


def test_ranges() -> None:
    assert score_range("sick") == (1, 5)
    assert score_range("sts2012/MSRpar") == RANGES["sts"] == (0, 5)
    with pytest.raises(IngestError, match=r"no range of scores is known for 'stsb', only for \["):
        score_range("stsb")


@needs(SICK)
def test_published() -> None:
    """Count 4,500, 500 and 4,927 pairs, all scored; 73 test pairs are training pairs too."""
    rejected = RejectedRows()
    pairs = read_sick({split: SICK / file for split, file in FILES.items()}, rejected)
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
