"""Pairs of a folder and those of people's verdicts and corrections, as the stage `pairs` adds them.

`TitleNetworks` trains on the folder that is written.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from tasks.io.frames import write_frame
from tasks.io.schemas import STRINGS
from tasks.pipeline.pairs.pair_blocks import write_blocks
from tasks.pipeline.pairs.params import PairsParams
from tasks.pipeline.pairs.stage import with_feedback


def write_corrected(
    before: Path,
    verdicts: pl.DataFrame,
    params: PairsParams,
    rng: np.random.Generator,
    folder: Path,
) -> None:
    """Write the pairs of folder `before` and those of `verdicts` (schema `VERDICTS`)."""
    strings, blocks = with_feedback(before, verdicts, params, rng, corrections=True)
    write_blocks(blocks, folder / "pairs.parquet")
    write_frame(strings, folder / "strings.parquet", STRINGS)
