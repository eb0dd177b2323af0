"""SimLex-999's format in small and as published."""

from __future__ import annotations

from pathlib import Path

import pytest
from published import DATA, needs

from tasks.io.frames import check
from tasks.papers.similarity.readers.scored_pairs import SCORED_PAIRS
from tasks.papers.similarity.readers.simlex import read_simlex
from tasks.tables.rejected import RejectedRows
from tasks.tables.source_files import IngestError

SIMLEX = DATA / "word_similarity/SimLex-999.txt"


def test_golden(tmp_path: Path) -> None:
    path = tmp_path / "SimLex.txt"
    path.write_bytes(
        b"word1\tword2\tPOS\tSimLex999\tSD(SimLex)\r\n"
        b"old\tnew\tA\t1.58\t0.41\r\n"
        b"go\tcome\tV\t10.1\t0.41\r\n"
        b"happy\tglad\tA\t9.17"
    )
    rejected = RejectedRows()
    pairs = check(read_simlex(path, rejected), SCORED_PAIRS, "simlex")
    assert pairs.rows() == [("simlex", "test", "old", "new", 1.58)]
    assert [(line, reason) for _, line, reason, _ in rejected.refused] == [
        (3, "score outside the data set's range"),
        (4, "wrong number of fields"),
    ]


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(IngestError, match=r"missing\. SimLex-999 .*from the archive"):
        read_simlex(tmp_path / "none.txt", RejectedRows())


@needs(SIMLEX)
def test_published() -> None:
    """Count 999 pairs, none twice, scores from 0.23 to 9.8 of 10."""
    rejected = RejectedRows()
    pairs = read_simlex(SIMLEX, rejected)
    assert rejected.refused == []
    assert pairs.height == 999
    assert pairs.select("left", "right").is_unique().all()
    assert (pairs["score"].min(), pairs["score"].max()) == (0.23, 9.8)
    assert pairs.row(0) == ("simlex", "test", "old", "new", 1.58)
