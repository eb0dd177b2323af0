"""The Microsoft Research Paraphrase Corpus: sentence pairs, 1 if they are paraphrases, else 0.

Tab-separated files with a header and no quoting: a lone double quote inside a field is a
character. The 4,076 training pairs come as one file or, as here, as 3,576 and 500 (`valid`); 1,725
are the test. Bao et al. 2018 train and test on it. Every pair of STS 2012 `MSRpar` stands here
too, its test part among the *training* pairs and its training part among the test pairs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import polars as pl

from tasks.papers.similarity.readers.scored_pairs import scored_pairs
from tasks.tables.read_table import read_rows
from tasks.tables.records import BARE_TABS
from tasks.tables.rejected import RejectedRows, Row

FILES = {"train": "msr-para-train.tsv", "valid": "msr-para-val.tsv", "test": "msr-para-test.tsv"}
"""Part -> the publisher's file."""
ORIGIN = (
    "MSRP (Dolan, Quirk and Brockett 2004) is published by Microsoft Research; the columns must "
    "be Quality, #1 ID, #2 ID, #1 String, #2 String, separated by tabs."
)
COLUMNS = {"left": "#1 String", "right": "#2 String", "score": "Quality"}
BAD_LABEL = "Quality is neither 0 nor 1"


def read_msrp(files: Mapping[str, Path], rejected: RejectedRows) -> pl.DataFrame:
    """Read columns of `SCORED_PAIRS`, data set `msrp`, parts in `files`' order; scores are 0 or 1.

    `files`: part -> file, for any of the keys of `FILES`.

    Raises:
        IngestError: a file or a column is missing, a part is unknown, or a file has no pair.
    """
    return pl.concat(
        scored_pairs(
            _judged(read_rows(path, COLUMNS, ORIGIN, rejected, BARE_TABS), rejected),
            "msrp",
            split,
            rejected,
        )
        for split, path in files.items()
    )


def _judged(rows: Iterable[Row], rejected: RejectedRows) -> Iterator[Row]:
    for row in rows:
        if row["score"] in ("0", "1"):
            yield row
        else:
            rejected.refuse(row, BAD_LABEL)
