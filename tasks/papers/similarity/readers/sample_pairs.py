"""The hand-made pairs of this repository: two CSV files with a header.

Scored pairs (`dataset, part, left, right, score`) and paraphrases (`head,
paraphrase`). Their frames are those of the publishers' files
(`tasks/papers/similarity/readers/scored_pairs.py`, `tasks/papers/similarity/readers/ppdb.py`).
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from tasks.papers.similarity.readers.ppdb import PARAPHRASES, Paraphrases
from tasks.papers.similarity.readers.scored_pairs import SAMPLE, SCORED_PAIRS, SPLITS, fault
from tasks.tables.read_table import read_rows
from tasks.tables.rejected import DUPLICATE_ROW, RejectedRows, Row, empty
from tasks.tables.source_files import IngestError

ORIGIN = "It is part of this repository (data/sample/): bring it back with `git checkout`."
UNKNOWN_DATASET = f"dataset is none of {', '.join(SAMPLE)}"
UNKNOWN_PART = f"part is none of {', '.join(SPLITS)}"


def read_sample_pairs(path: Path, rejected: RejectedRows) -> pl.DataFrame:
    """Read columns of `SCORED_PAIRS`, in the order of the file.

    Raises:
        IngestError: the file or a column is missing, or no row could be taken.
    """
    taken = []
    for row in read_rows(path, {name: name for name in SCORED_PAIRS}, ORIGIN, rejected):
        if reason := _fault(row):
            rejected.refuse(row, reason)
        else:
            *texts, score = (row[name] for name in SCORED_PAIRS)
            taken.append((*texts, float(score)))
    if not taken:
        raise IngestError(
            f"{path} holds no scored pair, rows refused: {rejected.reasons()}. {ORIGIN}"
        )
    return pl.DataFrame(taken, schema=SCORED_PAIRS, orient="row")


def read_sample_paraphrases(path: Path, rejected: RejectedRows) -> Paraphrases:
    """Read distinct pairs; one that stood before, either way round, is a duplicate: refused.

    Raises:
        IngestError: the file or a column is missing, or no row could be taken.
    """
    taken: dict[frozenset[str], tuple[str, str]] = {}
    links = self_links = 0
    for row in read_rows(path, {name: name for name in PARAPHRASES}, ORIGIN, rejected):
        head, paraphrase = row["head"], row["paraphrase"]
        if not (head and paraphrase):
            rejected.refuse(row, empty("paraphrase" if head else "head"))
            continue
        links += 1
        self_links += head == paraphrase
        if frozenset((head, paraphrase)) in taken:
            rejected.refuse(row, DUPLICATE_ROW)
        elif head != paraphrase:
            taken[frozenset((head, paraphrase))] = (head, paraphrase)
    if not taken:
        raise IngestError(f"{path} holds no pair, rows refused: {rejected.reasons()}. {ORIGIN}")
    frame = pl.DataFrame(list(taken.values()), schema=PARAPHRASES, orient="row")
    return Paraphrases(frame, links, self_links, links - self_links - len(taken))


def _fault(row: Row) -> str:
    """Name the reason to refuse a row; empty if there is none."""
    for name in SCORED_PAIRS:
        if not row[name]:
            return empty(name)
    if row["dataset"] not in SAMPLE:
        return UNKNOWN_DATASET
    if row["split"] not in SPLITS:
        return UNKNOWN_PART
    return fault(row, *SAMPLE[row["dataset"]])
