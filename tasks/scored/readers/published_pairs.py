"""The publishers' scored pairs, all of them: SICK, MSRP and SemEval below one folder, SimLex-999.

Which files these are, and what they hold, say `tasks/readers/{sick,msrp,semeval,simlex}.py`.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from tasks.readers.rejected import RejectedRows
from tasks.scored.readers import msrp, semeval, sick
from tasks.scored.readers.simlex import read_simlex


def read_published_pairs(sentences: Path, words: Path, rejected: RejectedRows) -> pl.DataFrame:
    """Read columns of `SCORED_PAIRS`.

    Args:
        sentences: the folder that holds `sick2014`, `msrp` and `semeval`.
        words: SimLex-999.txt.
        rejected: takes the refused rows.

    Raises:
        IngestError: a file or a column is missing, or a file has no scored pair.
    """
    read = {
        "sick2014": (sick.read_sick, sick.FILES),
        "msrp": (msrp.read_msrp, msrp.FILES),
        "semeval": (semeval.read_semeval, semeval.FILES),
    }
    frames = [
        reader({name: sentences / folder / file for name, file in files.items()}, rejected)
        for folder, (reader, files) in read.items()
    ]
    return pl.concat([*frames, read_simlex(words, rejected)])
