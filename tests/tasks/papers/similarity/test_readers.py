"""Each format in small and as published; the faults that a scored pair can have."""

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from published import DATA, needs

from tasks.io.frames import check
from tasks.papers.similarity.pair_files import SCORED_PAIRS
from tasks.papers.similarity.readers import (
    BAD_SCORE,
    LINKS,
    MSRP,
    OUT_OF_RANGE,
    SICK,
    SIMLEX,
    STS_FILES,
    UNKNOWN_DATASET,
    UNKNOWN_PART,
    Publisher,
    read_pairs,
    read_ppdb,
    read_sample_pairs,
    read_sample_paraphrases,
    read_sts,
)
from tasks.tables.rejected import BAD_WIDTH, DUPLICATE_ROW, NOTICES, UNSCORED, RejectedRows
from tasks.tables.source_files import IngestError

SICK_FOLDER, MSRP_FOLDER, STS = DATA / "sts/sick2014", DATA / "sts/msrp", DATA / "sts/semeval"
SIMLEX_FILE, PPDB = DATA / "word_similarity/SimLex-999.txt", DATA / "ppdb/ppdb-xl.txt"
SICK_HEADER = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment"
MSRP_HEADER = "\ufeffQuality\t#1 ID\t#2 ID\t#1 String\t#2 String"
SAMPLE_HEADER = "dataset,split,left,right,score"


def written(folder: Path, name: str, *lines: str, end: str = "\n") -> Path:
    path = folder / name
    path.write_bytes(end.join([*lines, ""]).encode("utf-8", "surrogateescape"))
    return path


def lines_and_reasons(rejected: RejectedRows) -> list[tuple[int, str]]:
    return [(line, reason) for _, line, reason, _ in rejected.refused]


def test_every_fault_is_refused_alone(tmp_path: Path) -> None:
    """SICK: outer white space is stripped; quotes, case and equal rows stay."""
    faults = {
        "1\t \tb\t3\tNEUTRAL": "empty left",
        "2\ta\t\t3\tNEUTRAL": "empty right",
        "3\ta\tb\t\tNEUTRAL": "empty score",
        "4\ta\tb\tthree\tNEUTRAL": BAD_SCORE,
        "5\ta\tb\tnan\tNEUTRAL": BAD_SCORE,
        "6\ta\tb\t1_1\tNEUTRAL": BAD_SCORE,
        "7\ta\tb\t0.9\tNEUTRAL": OUT_OF_RANGE,
        "8\ta\tb\t5.01\tNEUTRAL": OUT_OF_RANGE,
        "9\ta\tb\t-3\tNEUTRAL": OUT_OF_RANGE,
        "10\ta\tb\t3": BAD_WIDTH,
        "11\ta\tb\t3\tNEUTRAL\t": BAD_WIDTH,
        "12\t\udcff\tb\t3\tNEUTRAL": "bytes that are not text",
        "": "empty row",
    }
    good = ['0\t"A boy runs \tNobody is running\t3.25\tNEUTRAL'] * 2
    rejected = RejectedRows()
    lines = (SICK_HEADER, *good, *faults, "14\ty\tz\t5\tENTAILMENT")
    pairs = read_pairs(SICK, {"test": written(tmp_path, "SICK.txt", *lines, end="\r\n")}, rejected)
    pair = ("sick", "test", '"A boy runs', "Nobody is running", 3.25)
    last = ("sick", "test", "y", "z", 5.0)
    assert check(pairs, SCORED_PAIRS, "sick").rows() == [pair, pair, last]
    assert lines_and_reasons(rejected) == list(enumerate(faults.values(), start=4))
    assert rejected.refused[4][3] == "5\ta\tb\tnan\tNEUTRAL"
    assert not {"empty score", BAD_SCORE} & NOTICES


def test_msrp_in_small(tmp_path: Path) -> None:
    """Read a byte order mark, and a lone double quote, which must not swallow the next lines."""
    rows = [
        MSRP_HEADER,
        '1\t11\t12\t"We won , he said .\tHe said "we won " .',
        "0.5\t13\t14\ta\tb",
        '0\t15\t16\tNo , said she .\tPrices rose "',
        "\t17\t18\ta\tb",
        "0\t19\t20\ta",
    ]
    rejected = RejectedRows()
    path = written(tmp_path, "msr.tsv", *rows, end="\r\n")
    assert read_pairs(MSRP, {"valid": path}, rejected).rows() == [
        ("msrp", "valid", '"We won , he said .', 'He said "we won " .', 1.0),
        ("msrp", "valid", "No , said she .", 'Prices rose "', 0.0),
    ]
    neither = "Quality is neither 0 nor 1"
    assert lines_and_reasons(rejected) == [(3, neither), (5, neither), (6, BAD_WIDTH)]


@pytest.mark.parametrize(("year", "unscored"), [("2014", "empty score"), ("2015", UNSCORED)])
def test_sts_in_small(tmp_path: Path, year: str, unscored: str) -> None:
    """Read no header and no quoting; a missing score is a fault, but for most of 2015."""
    lines = [
        '4.400\t"Then the captain was gone.\tThe captain came back. ',
        "\tnever\tjudged",
        '1.80\t"the battery""s state"\tterminal 1',
        "3\ta\tb\tc",
    ]
    rejected = RejectedRows()
    path = written(tmp_path, "set.tsv", *lines)
    pairs = read_sts({f"{year}/deft-forum.test": path}, rejected)
    dataset = f"sts{year}/deft-forum"
    assert check(pairs, SCORED_PAIRS, "sts").rows() == [
        (dataset, "test", '"Then the captain was gone.', "The captain came back.", 4.4),
        (dataset, "test", '"the battery""s state"', "terminal 1", 1.8),
    ]
    assert lines_and_reasons(rejected) == [(2, unscored), (4, BAD_WIDTH)]
    assert (unscored in NOTICES) == (year == "2015")
    assert rejected.rows == {"set.tsv": 4}


def test_sample_pairs_in_order_and_faults_with_their_line(tmp_path: Path) -> None:
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
    pairs = read_sample_pairs(written(tmp_path, "pairs.csv", SAMPLE_HEADER, *rows), rejected)
    assert check(pairs, SCORED_PAIRS, "pairs").rows() == [
        ("sample_words", "test", "baker", "bakery", 3.0),
        ("sample_sentences", "train", "A, b", "A b", 4.5),
    ]
    reasons = (UNKNOWN_DATASET, UNKNOWN_PART, BAD_SCORE, OUT_OF_RANGE, "empty right")
    assert lines_and_reasons(rejected) == list(enumerate(reasons, start=3))


def test_a_sample_paraphrase_counts_once_either_way_round(tmp_path: Path) -> None:
    rows = ("big,large", "large,big", "big,big", "big,large", "big,", "small,little")
    rejected = RejectedRows()
    path = written(tmp_path, "pairs.csv", "head,paraphrase", *rows)
    paraphrases = read_sample_paraphrases(path, rejected)
    assert paraphrases.frame.rows() == [("big", "large"), ("small", "little")]
    assert paraphrases[1:] == (5, 1, 2)
    assert rejected.reasons() == {DUPLICATE_ROW: 2, "empty paraphrase": 1}


def test_ppdb_in_small(tmp_path: Path) -> None:
    """Count 9 links: `b a`, the second `a c` and `c a` stood before, `b b` is one word.

    Only spaces separate: U+001D and the no-break space are white space, yet belong to words.
    """
    lines = ["z a", 'b "c', "a b c c", "b a b", "alone ", "", "c a", "<\xa0x \x1d"]
    rejected = RejectedRows()
    paraphrases = read_ppdb(written(tmp_path, "ppdb.txt", *lines), rejected)
    pairs = [("z", "a"), ("b", '"c'), ("a", "b"), ("a", "c"), ("<\xa0x", "\x1d")]
    assert check(paraphrases.frame, LINKS, "ppdb").rows() == pairs
    assert paraphrases[1:] == (9, 1, 3)
    refused = [(5, "empty paraphrase", "alone "), (6, "empty row", "")]
    assert rejected.refused == [("ppdb.txt", *row) for row in refused]


def pairs_of(publisher: Publisher) -> Callable[[Path, RejectedRows], object]:
    return lambda path, rejected: read_pairs(publisher, {"test": path}, rejected)


def sts_of(path: Path, rejected: RejectedRows) -> pl.DataFrame:
    return read_sts({"2015/belief.test": path}, rejected)


@pytest.mark.parametrize(
    ("read", "lines", "message"),
    [
        (pairs_of(SICK), None, r"pairs\.txt is missing\. SICK .*SemEval 2014"),
        (pairs_of(MSRP), None, r"missing\. MSRP .*Microsoft Research; the columns must"),
        (pairs_of(SIMLEX), None, r"missing\. SimLex-999 .*from the archive"),
        (sts_of, None, r"missing\. The STS sets .*separated by tabs"),
        (read_ppdb, None, r"missing\. PPDB .*paraphrase\.org"),
        (pairs_of(SICK), ["a,b"], r"no column \['sentence_A'.*must be the tab-separated"),
        (pairs_of(MSRP), ["Quality\tleft\tright"], r"no column \['#1 String', '#2 String'\]"),
        (
            pairs_of(SICK),
            [SICK_HEADER, "1\ta\tb\t\tNEUTRAL"],
            r"sick, part test, holds no scored pair.*\{'empty score': 1\}\. Check that",
        ),
        (sts_of, ["\tnever\tjudged"], r"sts2015/belief, part test, holds no scored .*without a"),
        (read_sample_pairs, [SAMPLE_HEADER], r"pairs\.txt holds no scored pair.*git checkout"),
        (read_ppdb, ["a a"], r"holds no pair of words, .*PPDB"),
        (read_sample_paraphrases, ["head,paraphrase"], r"txt holds no pair of words.*git checkout"),
    ],
)
def test_errors_say_what_to_do(tmp_path, read, lines, message) -> None:
    path = tmp_path / "pairs.txt"
    if lines is not None:
        written(tmp_path, "pairs.txt", *lines)
    with pytest.raises(IngestError, match=message):
        read(path, RejectedRows())


def unordered(pairs: pl.DataFrame, split: str) -> set[frozenset[str]]:
    return {frozenset(pair) for pair in pairs.filter(split=split)["left", "right"].rows()}


def files_of(publisher: Publisher, folder: Path) -> dict[str, Path]:
    return {split: folder / file for split, file in publisher.files.items()}


@pytest.mark.parametrize(
    ("publisher", "files", "sizes", "scores", "first"),
    [
        pytest.param(
            SICK,
            files_of(SICK, SICK_FOLDER),
            {"train": 4_500, "valid": 500, "test": 4_927},
            (1, 5),
            "A group of kids is playing in a yard and an old man is standing in the background",
            marks=needs(SICK_FOLDER),
        ),
        pytest.param(
            MSRP,
            files_of(MSRP, MSRP_FOLDER),
            {"train": 3_576, "valid": 500, "test": 1_725},
            (0, 1),
            'whom he called "the witness", of deliberately distorting his evidence.',
            marks=needs(MSRP_FOLDER),
        ),
        pytest.param(
            *(SIMLEX, {"test": SIMLEX_FILE}, {"test": 999}, (0.23, 9.8), "old"),
            marks=needs(SIMLEX_FILE),
        ),
    ],
)
def test_as_published(publisher, files, sizes, scores, first) -> None:
    rejected = RejectedRows()
    pairs = read_pairs(publisher, files, rejected)
    assert rejected.refused == []
    assert dict(pairs.group_by("split", maintain_order=True).len().iter_rows()) == sizes
    assert (pairs["score"].min(), pairs["score"].max()) == scores
    assert pairs["left"][0].endswith(first)


@needs(SICK_FOLDER)
@needs(MSRP_FOLDER)
@needs(STS)
def test_pairs_that_stand_in_two_parts_as_published() -> None:
    """73 test pairs of SICK are training pairs too. 67 % of MSRP are paraphrases (Bao et al.).

    The test pairs of STS 2012 are training pairs of MSRP, and its training pairs are test pairs:
    who trains on one must not test on the other.
    """
    rejected = RejectedRows()
    sick = read_pairs(SICK, files_of(SICK, SICK_FOLDER), rejected)
    assert len(unordered(sick, "test") & unordered(sick, "train")) == 73
    pairs = read_pairs(MSRP, files_of(MSRP, MSRP_FOLDER), rejected)
    assert pairs["score"].mean() == pytest.approx(0.67, abs=0.005)
    names = [f"2012/MSRpar.{split}" for split in ("train", "test")]
    sts = read_sts({name: STS / f"{name}.tsv" for name in names}, rejected)
    assert unordered(sts, "test") <= unordered(pairs, "train") | unordered(pairs, "valid")
    assert unordered(sts, "train") <= unordered(pairs, "test")


@needs(STS)
def test_sts_as_published() -> None:
    """Count 10,608 test pairs: 12,108 of Wieting et al. 2016, less MSRvid and SMT (750 each).

    The sizes are those of the organizers' overviews.
    """
    present = {path.relative_to(STS).as_posix() for path in STS.glob("*/*.tsv")}
    assert set(STS_FILES.values()) == present
    rejected = RejectedRows()
    pairs = read_sts({name: STS / file for name, file in STS_FILES.items()}, rejected)
    tests = pairs.filter(split="test")
    sizes = dict(tests.group_by("dataset", maintain_order=True).len().iter_rows())
    assert list(sizes.values()) == [
        *(750, 750, 459, 399),
        *(189, 561, 750),
        *(750, 450, 300, 750, 750, 750),
        *(375, 750, 375, 750, 750),
    ]
    assert tests.height == 12_108 - 750 - 750
    assert pairs.filter(split="train").group_by("dataset").len().sort("dataset").rows() == [
        ("sts2012/MSRpar", 750),
        ("sts2012/SMTeuroparl", 734),
    ]
    # 8,500 pairs of 2015 were given to systems, 3,000 were judged
    assert rejected.reasons() == {UNSCORED: 8_500 - 3_000}
    assert set(pairs.group_by("dataset").agg(pl.col("score").n_unique() > 5)["score"]) == {True}


@pytest.mark.thorough
@needs(PPDB)
def test_ppdb_as_published() -> None:
    """Count 102,902 heads, 374,555 links, all but one both ways: 374,554 / 2 + 1 pairs."""
    rejected = RejectedRows()
    paraphrases = read_ppdb(PPDB, rejected)
    assert rejected.refused == []
    assert rejected.rows == {"ppdb-xl.txt": 102_902}
    assert paraphrases[1:] == (374_555, 0, 187_277)
    assert paraphrases.frame.height == 374_554 // 2 + 1 == 187_278
    assert paraphrases.frame.rows()[:2] == [("fawn", "crawl"), ("reallocations", "re-allocations")]
