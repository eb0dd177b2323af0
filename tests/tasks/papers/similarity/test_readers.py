"""Each format in small and as published; the faults that a scored pair can have."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from published import DATA, needs

from models.text.titles import normalize_title
from tasks.io.frames import check
from tasks.papers.similarity.pair_files import SAMPLE, SCORED_PAIRS
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
    Paraphrases,
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
SAMPLES = Path(__file__).parents[4] / "data/sample"
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


def test_simlex_in_small(tmp_path: Path) -> None:
    header, good = "word1\tword2\tPOS\tSimLex999\tSD(SimLex)", "old\tnew\tA\t1.58\t0.41"
    lines = (header, good, "go\tcome\tV\t10.1\t0.41", "happy\tglad\tA\t9.17")
    rejected = RejectedRows()
    pairs = read_pairs(SIMLEX, {"test": written(tmp_path, "SimLex.txt", *lines)}, rejected)
    assert pairs.rows() == [("simlex", "test", "old", "new", 1.58)]
    assert lines_and_reasons(rejected) == [(3, OUT_OF_RANGE), (4, BAD_WIDTH)]


@pytest.mark.parametrize(("year", "unscored"), [("2014", "empty score"), ("2015", UNSCORED)])
def test_sts_in_small(tmp_path: Path, year: str, unscored: str) -> None:
    """Read no header and no quoting; a missing score is a fault, but for most of 2015."""
    lines = [
        '4.400\t"Then the captain was gone.\tThe captain came back. ',
        "\tnever\tjudged",
        '1.80\t"the battery""s state"\tterminal 1',
        "5.2\ta\tb",
        "3\ta",
        "3\ta\tb\tc",
        "",
        "3\t\tb",
    ]
    rejected = RejectedRows()
    path = written(tmp_path, "set.tsv", *lines)
    pairs = read_sts({f"{year}/deft-forum.test": path}, rejected)
    dataset = f"sts{year}/deft-forum"
    assert check(pairs, SCORED_PAIRS, "sts").rows() == [
        (dataset, "test", '"Then the captain was gone.', "The captain came back.", 4.4),
        (dataset, "test", '"the battery""s state"', "terminal 1", 1.8),
    ]
    assert lines_and_reasons(rejected) == [
        (2, unscored),
        (4, OUT_OF_RANGE),
        (5, BAD_WIDTH),
        (6, BAD_WIDTH),
        (7, "empty row"),
        (8, "empty left"),
    ]
    assert (unscored in NOTICES) == (year == "2015")
    assert rejected.rows == {"set.tsv": 8}


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
    assert rejected.refused == [
        ("ppdb.txt", 5, "empty paraphrase", "alone "),
        ("ppdb.txt", 6, "empty row", ""),
    ]


@given(
    st.lists(st.lists(st.sampled_from("abcdé"), min_size=2, max_size=5), min_size=1, max_size=12)
)
@settings(derandomize=True, database=None, deadline=None, max_examples=60)
def test_links_are_those_of_a_plain_loop(
    tmp_path_factory: pytest.TempPathFactory, lines: list[list[str]]
) -> None:
    """Keep each unordered pair where it stands first; links = pairs + self-links + repeated."""
    first: list[tuple[str, str]] = []
    own = total = 0
    for head, *others in lines:
        for other in others:
            total += 1
            own += head == other
            if head != other and not {(head, other), (other, head)} & {*first}:
                first.append((head, other))

    def read() -> Paraphrases:
        folder = tmp_path_factory.mktemp("ppdb")
        return read_ppdb(written(folder, "ppdb.txt", *map(" ".join, lines)), RejectedRows())

    if not first:
        with pytest.raises(IngestError, match=r"holds no pair of words, .*PPDB"):
            read()
        return
    assert read()[1:] == (total, own, total - own - len(first))
    assert read().frame.rows() == first


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
        (read_sample_paraphrases, ["head,paraphrase"], r"txt holds no pair of words.*git checkout"),
    ],
)
def test_errors_say_what_to_do(
    tmp_path: Path,
    read: Callable[[Path, RejectedRows], object],
    lines: list[str] | None,
    message: str,
) -> None:
    path = tmp_path / "pairs.txt"
    if lines is not None:
        written(tmp_path, "pairs.txt", *lines)
    with pytest.raises(IngestError, match=message):
        read(path, RejectedRows())


def published(publisher: Publisher, folder: Path, rejected: RejectedRows) -> pl.DataFrame:
    files = {split: folder / file for split, file in publisher.files.items()}
    return read_pairs(publisher, files, rejected)


def unordered(pairs: pl.DataFrame, split: str) -> set[frozenset[str]]:
    return {frozenset(pair) for pair in pairs.filter(split=split)["left", "right"].rows()}


@needs(SICK_FOLDER)
def test_sick_as_published() -> None:
    """Count 4,500, 500 and 4,927 pairs, all scored; 73 test pairs are training pairs too."""
    rejected = RejectedRows()
    pairs = published(SICK, SICK_FOLDER, rejected)
    assert rejected.refused == []
    assert pairs["split"].to_list() == ["train"] * 4_500 + ["valid"] * 500 + ["test"] * 4_927
    assert (pairs["score"].min(), pairs["score"].max()) == (1, 5)
    assert pairs.row(0)[2:] == (
        "A group of kids is playing in a yard and an old man is standing in the background",
        "A group of boys in a yard is playing and a man is standing in the background",
        4.5,
    )
    assert len(unordered(pairs, "test") & unordered(pairs, "train")) == 73


@needs(MSRP_FOLDER)
def test_msrp_as_published() -> None:
    """Count 4,076 pairs to train, 500 `valid`, 1,725 to test; Bao et al.: 67 % paraphrases.

    The test pairs of STS 2012 are training pairs here, and its training pairs are test pairs: who
    trains on one must not test on the other.
    """
    rejected = RejectedRows()
    pairs = published(MSRP, MSRP_FOLDER, rejected)
    assert pairs["split"].to_list() == ["train"] * 3_576 + ["valid"] * 500 + ["test"] * 1_725
    assert set(pairs["score"]) == {0.0, 1.0}
    assert pairs["score"].mean() == pytest.approx(0.67, abs=0.005)
    assert pairs["left"][0].endswith(
        'whom he called "the witness", of deliberately distorting his evidence.'
    )
    names = [f"2012/MSRpar.{split}" for split in ("train", "test")]
    sts = read_sts({name: STS / f"{name}.tsv" for name in names}, rejected)
    assert rejected.refused == []
    assert unordered(sts, "test") <= unordered(pairs, "train") | unordered(pairs, "valid")
    assert unordered(sts, "train") <= unordered(pairs, "test")


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


def test_the_repositorys_sample_is_sound() -> None:
    """Refuse nothing; scores have the whole range, no pair is twice, few test pairs are links."""
    rejected = RejectedRows()
    pairs = read_sample_pairs(SAMPLES / "scored_pairs.csv", rejected)
    links = read_sample_paraphrases(SAMPLES / "paraphrases.csv", rejected).frame
    assert rejected.reasons() == {}
    assert set(pairs["dataset"]) == set(SAMPLE)
    sentences = pairs.filter(dataset="sample_sentences")
    assert (sentences["score"].min(), sentences["score"].max()) == (0, 5)
    both = {frozenset(map(normalize_title, pair)) for pair in pairs["left", "right"].iter_rows()}
    assert len(both) == pairs.height
    assert links.height > 150
    leaks = {frozenset(map(normalize_title, pair)) for pair in links.iter_rows()} & both
    assert 1 <= len(leaks) <= 5  # the rule about test pairs has something to do
