"""The STS sets' format in small and as published."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from published import DATA, needs

from tasks.io.frames import check
from tasks.papers.similarity.readers.scored_pairs import SCORED_PAIRS
from tasks.papers.similarity.readers.semeval import FILES, read_semeval
from tasks.tables.rejected import NOTICES, UNSCORED, RejectedRows
from tasks.tables.source_files import IngestError

SEMEVAL = DATA / "sts/semeval"
SIZES = {
    "sts2012/MSRpar": 750,
    "sts2012/OnWN": 750,
    "sts2012/SMTeuroparl": 459,
    "sts2012/SMTnews": 399,
    "sts2013/FNWN": 189,
    "sts2013/OnWN": 561,
    "sts2013/headlines": 750,
    "sts2014/OnWN": 750,
    "sts2014/deft-forum": 450,
    "sts2014/deft-news": 300,
    "sts2014/headlines": 750,
    "sts2014/images": 750,
    "sts2014/tweet-news": 750,
    "sts2015/answers-forums": 375,
    "sts2015/answers-students": 750,
    "sts2015/belief": 375,
    "sts2015/headlines": 750,
    "sts2015/images": 750,
}
"""Test pairs with a gold score, by the organizers' overviews."""
LINES = [
    '4.400\t"Then the captain was gone.\tThe captain came back. ',
    "\tnever\tjudged",
    '1.80\t"the battery""s state"\tterminal 1',
    "5.2\ta\tb",
    "3\ta",
    "3\ta\tb\tc",
    "",
    "3\t\tb",
]


def read(tmp_path: Path, name: str, lines: list[str]) -> tuple[pl.DataFrame, RejectedRows]:
    path = tmp_path / "set.tsv"
    path.write_text("\n".join([*lines, ""]), encoding="utf-8", newline="")
    rejected = RejectedRows()
    return check(read_semeval({name: path}, rejected), SCORED_PAIRS, name), rejected


@pytest.mark.parametrize(("year", "unscored"), [("2014", "empty score"), ("2015", UNSCORED)])
def test_golden(tmp_path: Path, year: str, unscored: str) -> None:
    """Read no header and no quoting; a missing score is a fault, but for most of 2015."""
    pairs, rejected = read(tmp_path, f"{year}/deft-forum.test", LINES)
    dataset = f"sts{year}/deft-forum"
    assert pairs.rows() == [
        (dataset, "test", '"Then the captain was gone.', "The captain came back.", 4.4),
        (dataset, "test", '"the battery""s state"', "terminal 1", 1.8),
    ]
    assert [(line, reason) for _, line, reason, _ in rejected.refused] == [
        (2, unscored),
        (4, "score outside the data set's range"),
        (5, "wrong number of fields"),
        (6, "wrong number of fields"),
        (7, "empty row"),
        (8, "empty left"),
    ]
    assert (unscored in NOTICES) == (year == "2015")
    assert rejected.rows == {"set.tsv": 8}


@pytest.mark.parametrize("name", ["MSRpar.test", "2012/MSRpar", "2012/MSRpar.gate"])
def test_a_name_that_is_none(tmp_path: Path, name: str) -> None:
    with pytest.raises(IngestError, match=r"names no STS set; write it like '2012/MSRpar\.train'"):
        read(tmp_path, name, LINES)


def test_errors_say_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(IngestError, match=r"missing\. The STS sets .*separated by tabs"):
        read_semeval({"2012/MSRpar.test": tmp_path / "none.tsv"}, RejectedRows())
    with pytest.raises(IngestError, match=r"sts2015/belief, part test: no scored pair .*without a"):
        read(tmp_path, "2015/belief.test", LINES[1:2])


@needs(SEMEVAL)
def test_published() -> None:
    """Count 10,608 test pairs: 12,108 of Wieting et al. 2016, less MSRvid and SMT (750 each)."""
    rejected = RejectedRows()
    pairs = read_semeval({name: SEMEVAL / file for name, file in FILES.items()}, rejected)
    tests = pairs.filter(split="test")
    assert dict(tests.group_by("dataset", maintain_order=True).len().iter_rows()) == SIZES
    assert tests.height == 12_108 - 750 - 750
    assert pairs.filter(split="train").group_by("dataset").len().sort("dataset").rows() == [
        ("sts2012/MSRpar", 750),
        ("sts2012/SMTeuroparl", 734),
    ]
    # 8,500 pairs of 2015 were given to systems, 3,000 were judged
    assert rejected.reasons() == {UNSCORED: 8_500 - 3_000}
    assert set(pairs.group_by("dataset").agg(pl.col("score").n_unique() > 5)["score"]) == {True}


@needs(SEMEVAL)
def test_every_published_file_is_read() -> None:
    present = {path.relative_to(SEMEVAL).as_posix() for path in SEMEVAL.glob("*/*.tsv")}
    assert set(FILES.values()) == present
