"""SICK and MSRP as the study `attention` reads them: no test pair is trained on or chosen by.

A pair is left out of training and validation if its two normalized sentences are a test pair,
whichever way round. The published test parts stay whole.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import polars as pl

from benchmarks.scored_sets import StringPairs, keys, string_pairs, without
from tasks.readers import msrp, sick
from tasks.readers.rejected import Ledger

DATASETS = {
    "sick": (sick.read_sick, sick.FILES, "sts/sick2014"),
    "msrp": (msrp.read_msrp, msrp.FILES, "sts/msrp"),
}


class Parts(NamedTuple):
    """A data set without the training and validation pairs that are test pairs as well."""

    train: StringPairs
    valid: StringPairs
    test: StringPairs
    left_out: int
    """Training pairs."""


def read(dataset: str, data: Path) -> Parts:
    """Read the publisher's three files.

    Raises:
        IngestError: a file is missing or is not the publisher's.
    """
    reader, files, folder = DATASETS[dataset]
    frame = reader({part: data / folder / name for part, name in files.items()}, Ledger())
    train, valid, test = (string_pairs(frame.filter(pl.col("part") == part)) for part in files)
    tested = set(keys(test))
    left = without(train, tested)
    return Parts(left, without(valid, tested), test, len(train.left) - len(left.left))
