"""SemEval's Semantic Textual Similarity 2012 to 2015: sentence pairs with similarity 0 to 5.

One file per set and part, `score<TAB>left<TAB>right`, no header, no quoting: what looks like CSV
quoting in 2015's answers-students came from the publisher and stays. In 2015 most pairs were given
to systems without ever being judged; their score is empty, and they are left out as `UNSCORED`. In
the other years an empty score is a fault. Wieting et al. 2016 average Pearson's r over the sets; of
their 20, MSRvid (2012) and SMT (2013) are not distributed with the other 18.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import polars as pl

from tasks.papers.similarity.readers.scored_pairs import scored_pairs
from tasks.tables.rejected import BAD_WIDTH, UNSCORED, RejectedRows, Row
from tasks.tables.source_files import IngestError
from tasks.tables.text import line_rows

TESTS = {
    "2012": ("MSRpar", "OnWN", "SMTeuroparl", "SMTnews"),
    "2013": ("FNWN", "OnWN", "headlines"),
    "2014": ("OnWN", "deft-forum", "deft-news", "headlines", "images", "tweet-news"),
    "2015": ("answers-forums", "answers-students", "belief", "headlines", "images"),
}
TRAININGS = {"2012": ("MSRpar", "SMTeuroparl")}
FILES = {
    f"{year}/{name}.{split}": f"{year}/{name}.{split}.tsv"
    for split, years in (("train", TRAININGS), ("test", TESTS))
    for year, names in years.items()
    for name in names
}
"""Name of a set's part, such as `2012/MSRpar.test` -> the publisher's file."""
ORIGIN = (
    "The STS sets are published by the organizers of SemEval 2012 to 2015; each file must hold "
    "score, first and second sentence, separated by tabs."
)
NAME = re.compile(r"(?P<year>\d{4})/(?P<set>[^/]+)\.(?P<split>train|test)")
PARTLY_SCORED = "2015"
FIELDS = ("score", "left", "right")


def read_semeval(files: Mapping[str, Path], rejected: RejectedRows) -> pl.DataFrame:
    """Read columns of `SCORED_PAIRS`; data set `sts<year>/<set>`, sets in the order of `files`.

    `files`: name as in `FILES` -> file; sets that `FILES` lacks may be given too; `rejected`: takes
    the refused rows, and 2015's unscored ones.

    Raises:
        IngestError: a name is not `<year>/<set>.<train or test>`, or a file is missing or has no
            scored pair.
    """
    return pl.concat(_read(name, path, rejected) for name, path in files.items())


def _read(name: str, path: Path, rejected: RejectedRows) -> pl.DataFrame:
    parts = NAME.fullmatch(name)
    if parts is None:
        raise IngestError(f"{name!r} names no STS set; write it like {next(iter(FILES))!r}")
    rows = _rows(path, rejected, partly_scored=parts["year"] == PARTLY_SCORED)
    return scored_pairs(rows, f"sts{parts['year']}/{parts['set']}", parts["split"], rejected)


def _rows(path: Path, rejected: RejectedRows, *, partly_scored: bool) -> Iterator[Row]:
    for row in line_rows(path, "line", ORIGIN, rejected):
        fields = row.values["line"].split("\t")
        if len(fields) != len(FIELDS):
            rejected.refuse(row, BAD_WIDTH)
        elif partly_scored and not fields[0].strip():
            rejected.refuse(row, UNSCORED)
        else:
            yield replace(row, values=dict(zip(FIELDS, fields, strict=True)))
