"""The hand-made pairs: what is taken, what is refused, and that the repository's own are sound."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from models.text.titles import normalize_title
from tasks.io.frames import check
from tasks.papers.similarity.readers.ppdb import PARAPHRASES
from tasks.papers.similarity.readers.sample_pairs import (
    UNKNOWN_DATASET,
    UNKNOWN_PART,
    read_sample_pairs,
    read_sample_paraphrases,
)
from tasks.papers.similarity.readers.scored_pairs import (
    BAD_SCORE,
    OUT_OF_RANGE,
    SAMPLE,
    SCORED_PAIRS,
)
from tasks.tables.rejected import DUPLICATE_ROW, RejectedRows
from tasks.tables.source_files import IngestError

SAMPLES = Path(__file__).parents[5] / "data/sample"
HEAD = "dataset,split,left,right,score\n"


def written(folder: Path, text: str) -> Path:
    path = folder / "pairs.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_rows_are_taken_in_order_and_faults_refused_with_their_line(tmp_path: Path) -> None:
    rows = [
        "sample_words,test,baker,bakery,3",
        "sample_sentence,test,a,b,3",
        "sample_words,dev,a,b,3",
        "sample_words,test,a,b,high",
        "sample_words,test,a,b,5.5",
        "sample_words,test,a,,5",
        'sample_sentences,train,"A, b",A b,4.5',
    ]
    rejected = RejectedRows()
    pairs = read_sample_pairs(written(tmp_path, HEAD + "\n".join(rows) + "\n"), rejected)
    assert check(pairs, SCORED_PAIRS, "pairs").rows() == [
        ("sample_words", "test", "baker", "bakery", 3.0),
        ("sample_sentences", "train", "A, b", "A b", 4.5),
    ]
    assert rejected.frame().select("line", "reason").rows() == [
        (3, UNKNOWN_DATASET),
        (4, UNKNOWN_PART),
        (5, BAD_SCORE),
        (6, OUT_OF_RANGE),
        (7, "empty right"),
    ]


def test_a_paraphrase_counts_once_either_way_round(tmp_path: Path) -> None:
    rows = "big,large\nlarge,big\nbig,big\nbig,large\nbig,\nsmall,little\n"
    rejected = RejectedRows()
    paraphrases = read_sample_paraphrases(written(tmp_path, "head,paraphrase\n" + rows), rejected)
    assert check(paraphrases.frame, PARAPHRASES, "links").rows() == [
        ("big", "large"),
        ("small", "little"),
    ]
    assert (paraphrases.links, paraphrases.self_links, paraphrases.repeated) == (5, 1, 2)
    assert rejected.reasons() == {DUPLICATE_ROW: 2, "empty paraphrase": 1}


@pytest.mark.parametrize("read", [read_sample_pairs, read_sample_paraphrases])
def test_a_file_without_a_row_is_refused(
    tmp_path: Path, read: Callable[[Path, RejectedRows], object]
) -> None:
    with pytest.raises(IngestError, match=r"pairs\.csv holds no .*git checkout"):
        read(written(tmp_path, HEAD.replace("left", "head,paraphrase,left")), RejectedRows())


def test_the_repositorys_own_are_sound() -> None:
    """Refuse nothing; scores have the whole range, no pair is twice, few test pairs are links."""
    rejected = RejectedRows()
    pairs = read_sample_pairs(SAMPLES / "scored_pairs.csv", rejected)
    links = read_sample_paraphrases(SAMPLES / "paraphrases.csv", rejected).frame
    assert rejected.reasons() == {}
    assert set(pairs["dataset"]) == set(SAMPLE)
    sentences = pairs.filter(pl.col("dataset") == "sample_sentences")
    assert dict(sentences.group_by("split").len().iter_rows()) == {
        "train": 50,
        "valid": 12,
        "test": 24,
    }
    assert (sentences["score"].min(), sentences["score"].max()) == (0, 5)
    tests = [*pairs.select("left", "right").iter_rows()]
    unordered = {frozenset(map(normalize_title, pair)) for pair in tests}
    assert len(unordered) == len(tests)
    assert links.height > 150
    leaks = {frozenset(map(normalize_title, pair)) for pair in links.iter_rows()} & unordered
    assert 1 <= len(leaks) <= 5  # the rule about test pairs has something to do
