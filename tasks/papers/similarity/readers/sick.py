"""SICK as published for SemEval 2014 task 1: sentence pairs with relatedness 1 to 5.

Three tab-separated files with a header and no quoting: 4,500 pairs to train, 500 as trial (here
`valid`), 4,927 as annotated test. Bao et al. 2018 train and test on it, Wieting et al. 2016 test.
The entailment label is not read. 73 test pairs stand, word for word, among the training pairs
as well; they are kept, as every published figure includes them.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import polars as pl

from tasks.papers.similarity.readers.scored_pairs import scored_pairs
from tasks.tables.read_table import read_rows
from tasks.tables.records import BARE_TABS
from tasks.tables.rejected import RejectedRows

FILES = {"train": "SICK_train.txt", "valid": "SICK_trial.txt", "test": "SICK_test_annotated.txt"}
"""Part -> the publisher's file."""
ORIGIN = (
    "SICK (Marelli et al. 2014) is published with SemEval 2014 task 1: SICK_train.txt, "
    "SICK_trial.txt and SICK_test_annotated.txt, which must be the tab-separated originals."
)
COLUMNS = {"left": "sentence_A", "right": "sentence_B", "score": "relatedness_score"}


def read_sick(files: Mapping[str, Path], rejected: RejectedRows) -> pl.DataFrame:
    """Read columns of `SCORED_PAIRS`, data set `sick`, parts in the order of `files`.

    `files`: part -> file, for any of the keys of `FILES`.

    Raises:
        IngestError: a file or a column is missing, a part is unknown, or a file has no pair.
    """
    return pl.concat(
        scored_pairs(read_rows(path, COLUMNS, ORIGIN, rejected, BARE_TABS), "sick", split, rejected)
        for split, path in files.items()
    )
