"""Scored pairs of publishers whose files are tab-separated, with a header and without quoting.

SICK, of SemEval 2014 task 1: sentence pairs with relatedness 1 to 5; 4,500 to train, 500 as trial
(here `valid`), 4,927 as annotated test. Bao et al. 2018 train and test on it, Wieting et al. 2016
test. The entailment label is not read. 73 test pairs stand, word for word, among the training pairs
as well; they are kept, as every published figure includes them.

MSRP, the Microsoft Research Paraphrase Corpus: sentence pairs, 1 if they are paraphrases, else 0. A
lone double quote inside a field is a character. The 4,076 training pairs come as one file or, as
here, as 3,576 and 500 (`valid`); 1,725 are the test. Bao et al. 2018 train and test on it. Every
pair of STS 2012 `MSRpar` stands here too, its test part among the *training* pairs and its training
part among the test pairs.

SimLex-999: 999 word pairs with judged similarity 0 to 10, all of them `test`, as in Wieting et al.
2016. Part of speech, concreteness and association are not read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import polars as pl

from tasks.papers.similarity.readers.scored_pairs import scored_pairs
from tasks.tables.read_table import read_rows
from tasks.tables.records import BARE_TABS
from tasks.tables.rejected import RejectedRows, Row


class Publisher(NamedTuple):
    """A data set: its files by part, our columns -> the publisher's, and what messages end with.

    `labels`: the only scores that there are, if they are few.
    """

    dataset: str
    files: dict[str, str]
    columns: dict[str, str]
    origin: str
    labels: tuple[str, ...] = ()


SICK = Publisher(
    "sick",
    {"train": "SICK_train.txt", "valid": "SICK_trial.txt", "test": "SICK_test_annotated.txt"},
    {"left": "sentence_A", "right": "sentence_B", "score": "relatedness_score"},
    "SICK (Marelli et al. 2014) is published with SemEval 2014 task 1: SICK_train.txt, "
    "SICK_trial.txt and SICK_test_annotated.txt, which must be the tab-separated originals.",
)
MSRP = Publisher(
    "msrp",
    {"train": "msr-para-train.tsv", "valid": "msr-para-val.tsv", "test": "msr-para-test.tsv"},
    {"left": "#1 String", "right": "#2 String", "score": "Quality"},
    "MSRP (Dolan, Quirk and Brockett 2004) is published by Microsoft Research; the columns must "
    "be Quality, #1 ID, #2 ID, #1 String, #2 String, separated by tabs.",
    ("0", "1"),
)
SIMLEX = Publisher(
    "simlex",
    {"test": "SimLex-999.txt"},
    {"left": "word1", "right": "word2", "score": "SimLex999"},
    "SimLex-999 (Hill, Reichart and Korhonen 2015) is published by its authors: SimLex-999.txt "
    "from the archive SimLex-999.zip.",
)


def read_pairs(
    publisher: Publisher, files: Mapping[str, Path], rejected: RejectedRows
) -> pl.DataFrame:
    """Read columns of `SCORED_PAIRS`, parts in the order of `files`.

    `files`: part -> file, for any of the publisher's parts.

    Raises:
        IngestError: a file or a column is missing, a part is unknown, or a file has no pair.
    """
    frames = []
    for split, path in files.items():
        rows = read_rows(path, publisher.columns, publisher.origin, rejected, BARE_TABS)
        frames.append(
            scored_pairs(_labelled(rows, publisher, rejected), publisher.dataset, split, rejected)
        )
    return pl.concat(frames)


def _labelled(rows: Iterable[Row], publisher: Publisher, rejected: RejectedRows) -> Iterator[Row]:
    for row in rows:
        if publisher.labels and row["score"] not in publisher.labels:
            reason = f"{publisher.columns['score']} is neither {' nor '.join(publisher.labels)}"
            rejected.refuse(row, reason)
        else:
            yield row
