"""Pairs of a folder and those of people's verdicts and corrections, as the stage `pairs` adds them.

`TitleNetworks` trains on the folder that is written.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from tasks.io.frames import read_frame, write_frame
from tasks.io.schemas import STRINGS
from tasks.pipeline.pairs.drawn_pairs import new_pairs
from tasks.pipeline.pairs.feedback_pairs import feedback_pairs, without_contradicted
from tasks.pipeline.pairs.pair_blocks import read_blocks, write_blocks
from tasks.pipeline.pairs.params import PairsParams
from tasks.pipeline.pairs.stage import counting
from tasks.pipeline.pairs.strings_table import append, feedback_strings


def write_corrected(
    before: Path,
    verdicts: pl.DataFrame,
    params: PairsParams,
    rng: np.random.Generator,
    folder: Path,
) -> None:
    """Write `strings.parquet` and `pairs.parquet`: those of folder `before`, and those of verdicts.

    `verdicts` has schema `VERDICTS`, and its corrections are learned too.
    """
    strings = read_frame(before / "strings.parquet", STRINGS)
    blocks = read_blocks(before / "pairs.parquet")
    if params.contradicted_pairs == "dropped":
        blocks = without_contradicted(blocks, strings, verdicts, corrections=True)
    strings = append(strings, feedback_strings(verdicts, corrections=True))
    share = params.shares["feedback"]
    blocks = counting(
        blocks,
        lambda similar: feedback_pairs(
            strings, verdicts, new_pairs(similar, share), params, rng, corrections=True
        ),
    )
    write_blocks(blocks, folder / "pairs.parquet")
    write_frame(strings, folder / "strings.parquet", STRINGS)
