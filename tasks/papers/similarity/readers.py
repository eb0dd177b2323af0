"""The publishers' files of scored pairs and paraphrases, and the hand-made sample of both.

A scored pair is taken if both texts hold something and the score is a number of the data set's
range. Texts lose the white space around them and nothing else. Equal pairs are all kept, as
published counts include them. Out: schemas `SCORED_PAIRS`, scores as published, and `LINKS`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import polars as pl

from tasks.io.frames import Schema
from tasks.papers.similarity.pair_files import SAMPLE, SCORED_PAIRS, SPLITS, score_range
from tasks.tables.delimited import BARE_TABS
from tasks.tables.read_table import read_rows
from tasks.tables.rejected import BAD_WIDTH, DUPLICATE_ROW, UNSCORED, RejectedRows, Row, empty
from tasks.tables.source_files import IngestError
from tasks.tables.text import line_rows

LINKS: Schema = {"head": pl.String, "paraphrase": pl.String}
NUMBER = re.compile(r"-?\d+(\.\d+)?")
BAD_SCORE = "score is no number"
OUT_OF_RANGE = "score outside the data set's range"
UNKNOWN_DATASET = f"dataset is none of {', '.join(SAMPLE)}"
UNKNOWN_PART = f"part is none of {', '.join(SPLITS)}"
AS_PUBLISHED = "Check that it is the file as published, scores included."


class Publisher(NamedTuple):
    """A data set in tab-separated files with a header and without quoting."""

    dataset: str
    files: dict[str, str]  # by split
    columns: dict[str, str]  # our names -> the publisher's
    origin: str  # what messages end with
    labels: tuple[str, ...] = ()  # the only scores that there are, if they are few


SICK = Publisher(
    "sick",
    {"train": "SICK_train.txt", "valid": "SICK_trial.txt", "test": "SICK_test_annotated.txt"},
    {"left": "sentence_A", "right": "sentence_B", "score": "relatedness_score"},
    "SICK (Marelli et al. 2014) is published with SemEval 2014 task 1: SICK_train.txt, "
    "SICK_trial.txt and SICK_test_annotated.txt, which must be the tab-separated originals.",
)
"""Sentence pairs with relatedness 1 to 5: 4,500 to train, 500 as trial (here `valid`), 4,927 to
test (Bao et al. 2018, Wieting et al. 2016), of which 73 stand among the training pairs, too."""
MSRP = Publisher(
    "msrp",
    {"train": "msr-para-train.tsv", "valid": "msr-para-val.tsv", "test": "msr-para-test.tsv"},
    {"left": "#1 String", "right": "#2 String", "score": "Quality"},
    "MSRP (Dolan, Quirk and Brockett 2004) is published by Microsoft Research; the columns must "
    "be Quality, #1 ID, #2 ID, #1 String, #2 String, separated by tabs.",
    ("0", "1"),
)
"""Sentence pairs, 1 if they are paraphrases, else 0: 4,076 to train, here 3,576 and 500 (`valid`),
and 1,725 to test (Bao et al. 2018). STS 2012 `MSRpar` tests on its training pairs."""
SIMLEX = Publisher(
    "simlex",
    {"test": "SimLex-999.txt"},
    {"left": "word1", "right": "word2", "score": "SimLex999"},
    "SimLex-999 (Hill, Reichart and Korhonen 2015) is published by its authors: SimLex-999.txt "
    "from the archive SimLex-999.zip.",
)
"""999 word pairs with judged similarity 0 to 10, all of them `test`, as in Wieting et al. 2016."""
STS_TESTS = {
    "2012": ("MSRpar", "OnWN", "SMTeuroparl", "SMTnews"),
    "2013": ("FNWN", "OnWN", "headlines"),
    "2014": ("OnWN", "deft-forum", "deft-news", "headlines", "images", "tweet-news"),
    "2015": ("answers-forums", "answers-students", "belief", "headlines", "images"),
}
STS_FILES = {  # name of an STS set's part, such as `2012/MSRpar.test` -> the publisher's file
    f"{year}/{name}.{split}": f"{year}/{name}.{split}.tsv"
    for split, years in (("train", {"2012": ("MSRpar", "SMTeuroparl")}), ("test", STS_TESTS))
    for year, names in years.items()
    for name in names
}
STS_ORIGIN = (
    "The STS sets are published by the organizers of SemEval 2012 to 2015; each file must hold "
    "score, first and second sentence, separated by tabs."
)
PPDB_ORIGIN = (
    "PPDB (Ganitkevitch, Van Durme and Callison-Burch 2013, CC BY 3.0) is published at "
    "paraphrase.org; the file must have one word a line, followed by its paraphrases."
)
SAMPLE_ORIGIN = "It is part of this repository (data/sample/): bring it back with `git checkout`."


class Paraphrases(NamedTuple):
    """Distinct pairs, and what the file's links came to."""

    frame: pl.DataFrame  # schema `LINKS`; no pair twice, whichever way round, none of equal words
    links: int  # words that follow a head, all lines together: pairs + self_links + repeated
    self_links: int  # links of a word to itself, dropped
    repeated: int  # links of a pair that stood before, mostly the other way round; dropped


def read_pairs(
    publisher: Publisher, files: Mapping[str, Path], rejected: RejectedRows
) -> pl.DataFrame:
    """Read `SCORED_PAIRS` from files by split; IngestError if a column or all pairs are missing."""

    def labelled(path: Path) -> Iterator[Row]:
        labels, of = publisher.labels, publisher.columns["score"]
        for row in read_rows(path, publisher.columns, publisher.origin, rejected, BARE_TABS):
            if labels and row["score"] not in labels:
                rejected.refuse(row, f"{of} is neither {' nor '.join(labels)}")
            else:
                yield row

    return pl.concat(
        _published(labelled(path), publisher.dataset, split, rejected)
        for split, path in files.items()
    )


def read_sts(files: Mapping[str, Path], rejected: RejectedRows) -> pl.DataFrame:
    """Read the sets of SemEval's Semantic Textual Similarity 2012 to 2015, in the files' order.

    A file holds sentence pairs with similarity 0 to 5, `score<TAB>left<TAB>right`, without header
    or quoting. In 2015 most pairs were never judged; their score is empty, and they are left out as
    `UNSCORED`; in the other years that is a fault. Wieting et al. 2016 average Pearson's r over the
    sets; of their 20, MSRvid (2012) and SMT (2013) are not distributed with the others. The data
    sets are called `sts<year>/<set>`; `files`: as in `STS_FILES`.
    """

    def scored(path: Path, *, partly: bool) -> Iterator[Row]:
        for row in line_rows(path, "line", STS_ORIGIN, rejected):
            fields = row.values["line"].split("\t")
            if len(fields) != 3:
                rejected.refuse(row, BAD_WIDTH)
            elif partly and not fields[0].strip():
                rejected.refuse(row, UNSCORED)
            else:
                names = ("score", "left", "right")
                yield replace(row, values=dict(zip(names, fields, strict=True)))

    frames = []
    for name, path in files.items():
        dataset, _, split = f"sts{name}".rpartition(".")
        rows = scored(path, partly=name.startswith("2015/"))
        frames.append(_published(rows, dataset, split, rejected))
    return pl.concat(frames)


def read_sample_pairs(path: Path, rejected: RejectedRows) -> pl.DataFrame:
    """Read columns of `SCORED_PAIRS` from a CSV file of this repository, in its order."""

    def known() -> Iterator[Row]:
        for row in read_rows(path, {name: name for name in SCORED_PAIRS}, SAMPLE_ORIGIN, rejected):
            if row["dataset"] not in SAMPLE:
                rejected.refuse(row, UNKNOWN_DATASET if row["dataset"] else empty("dataset"))
            elif row["split"] not in SPLITS:
                rejected.refuse(row, UNKNOWN_PART if row["split"] else empty("split"))
            else:
                yield row

    return _scored(known(), str(path), SAMPLE_ORIGIN, rejected)


def read_ppdb(path: Path, rejected: RejectedRows) -> Paraphrases:
    """Read PPDB's adjacency list, a word and its paraphrases on each line.

    Only spaces separate words. The file gives almost every link in both directions; a pair is kept
    once, the way round and at the position where it stands first. Words are taken as published. A
    line without a paraphrase is refused. IngestError if the file is missing or holds no pair.
    """

    def links() -> Iterator[tuple[str, str, None]]:
        for row in line_rows(path, "line", PPDB_ORIGIN, rejected):
            head, *others = [word for word in row.values["line"].split(" ") if word]
            if not others:
                rejected.refuse(row, empty("paraphrase"))
            yield from ((head, other, None) for other in others)

    return _distinct(links(), path, PPDB_ORIGIN, rejected)


def read_sample_paraphrases(path: Path, rejected: RejectedRows) -> Paraphrases:
    """Read distinct pairs; one that stood before, either way round, is refused."""

    def links() -> Iterator[tuple[str, str, Row]]:
        for row in read_rows(path, {name: name for name in LINKS}, SAMPLE_ORIGIN, rejected):
            if row["head"] and row["paraphrase"]:
                yield row["head"], row["paraphrase"], row
            else:
                rejected.refuse(row, empty("paraphrase" if row["head"] else "head"))

    return _distinct(links(), path, SAMPLE_ORIGIN, rejected)


def _published(
    rows: Iterable[Row], dataset: str, split: str, rejected: RejectedRows
) -> pl.DataFrame:
    of_part = {"dataset": dataset, "split": split}
    named = (replace(row, values=row.values | of_part) for row in rows)
    return _scored(named, f"{dataset}, part {split},", AS_PUBLISHED, rejected)


def _scored(rows: Iterable[Row], source: str, advice: str, rejected: RejectedRows) -> pl.DataFrame:
    taken = []
    for row in rows:
        if reason := _fault(row):
            rejected.refuse(row, reason)
        else:
            *texts, score = (row[name] for name in SCORED_PAIRS)
            taken.append((*texts, float(score)))
    if not taken:
        fault = f"holds no scored pair, rows refused so far: {rejected.reasons()}"
        raise IngestError(f"{source} {fault}. {advice}")
    return pl.DataFrame(taken, schema=SCORED_PAIRS, orient="row")


def _fault(row: Row) -> str:
    """Name the reason to refuse a row; empty if there is none."""
    for name in ("left", "right", "score"):
        if not row[name]:
            return empty(name)
    if not NUMBER.fullmatch(row["score"]):
        return BAD_SCORE
    low, high = score_range(row["dataset"])
    return "" if low <= float(row["score"]) <= high else OUT_OF_RANGE


def _distinct(
    links: Iterable[tuple[str, str, Row | None]], path: Path, origin: str, rejected: RejectedRows
) -> Paraphrases:
    """Keep each pair once; a link that has a row of its own is refused if it is a duplicate."""
    first: dict[frozenset[str], tuple[str, str]] = {}
    count = self_links = 0
    for head, paraphrase, row in links:
        count += 1
        if head == paraphrase:
            self_links += 1
        elif row and frozenset((head, paraphrase)) in first:
            rejected.refuse(row, DUPLICATE_ROW)
        else:
            first.setdefault(frozenset((head, paraphrase)), (head, paraphrase))
    if not first:
        fault = f"holds no pair of words, rows refused: {rejected.reasons()}"
        raise IngestError(f"{path} {fault}. {origin}")
    frame = pl.DataFrame(list(first.values()), schema=LINKS, orient="row")
    return Paraphrases(frame, count, self_links, count - self_links - len(first))
