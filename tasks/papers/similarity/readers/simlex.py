"""SimLex-999: 999 word pairs with judged similarity 0 to 10.

One tab-separated file with a header and no quoting. Wieting et al. 2016 test on all of it
(Spearman), so there is one part, `test`. Part of speech, concreteness and association are not read.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from tasks.papers.similarity.readers.scored_pairs import scored_pairs
from tasks.tables.read_table import read_rows
from tasks.tables.records import BARE_TABS
from tasks.tables.rejected import RejectedRows

ORIGIN = (
    "SimLex-999 (Hill, Reichart and Korhonen 2015) is published by its authors: SimLex-999.txt "
    "from the archive SimLex-999.zip."
)
COLUMNS = {"left": "word1", "right": "word2", "score": "SimLex999"}


def read_simlex(path: Path, rejected: RejectedRows) -> pl.DataFrame:
    """Read columns of `SCORED_PAIRS`, data set `simlex`, part `test`.

    `path`: SimLex-999.txt.

    Raises:
        IngestError: the file or a column is missing, or the file has no pair.
    """
    rows = read_rows(path, COLUMNS, ORIGIN, rejected, BARE_TABS)
    return scored_pairs(rows, "simlex", "test", rejected)
