"""The sources of training pairs, in order, and the mixes of them that networks are trained on.

The mix `base` has the taxonomy's pairs; each source adds its pairs to the mix before (Neculoiu et
al. 2016, section 4.2). `verdicts` and `corrections` both follow the last source. A new source is a
line here, its stage, and its entries in `dvc.yaml` and `params.yaml`.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import polars as pl
import polars.selectors as cs

from tasks.io.frames import check, read_frame, read_parquet
from tasks.io.schemas import QUERIES, VARIANTS

DATA = Path("data")


class PairSource(NamedTuple):
    """A stage that adds training pairs, from the mix `mix` on.

    `name` is that of its pairs and of its share in `pairs.shares`; `stage` writes
    `data/STAGE/{variants,queries}.parquet`; `words` are for people; `trains` selects training
    variants.
    """

    mix: str
    name: str
    stage: str
    words: str
    trains: pl.Expr = pl.lit(True)


SOURCES = (
    PairSource("typos", "typo", "typos", "typos"),
    PairSource("synonyms", "synonym", "synonyms", "synonyms"),
    PairSource(
        "extra_words", "extra_words", "extra_words", "extra words", pl.col("split") == "train"
    ),
)
BASE = "base"
LAST = SOURCES[-1].mix
"""The mix whose predictions are judged, which the mixes with feedback follow."""
VERDICTS, CORRECTIONS = "verdicts", "corrections"
MIXES = (BASE, *(source.mix for source in SOURCES), VERDICTS, CORRECTIONS)
PAPER_NUMBERS = dict(zip(MIXES, ("0", "1", "2", "3", "4", "4c"), strict=True))
"""Numbers of the models in Neculoiu et al. 2016, Table 3; `4c` is ours. Draws are seeded by
them."""
PAIR_SOURCES = ("base", *(source.name for source in SOURCES), "feedback")
"""Names of the column `source` of a pairs file; a place here is its code."""


def checked_mix(mix: str) -> str:
    """Return `mix`; ValueError if there is none."""
    if mix not in MIXES:
        raise ValueError(f"{mix!r} is no mix; choose {', '.join(MIXES)}")
    return mix


def reads_feedback(mix: str) -> bool:
    """Tell whether a mix learns from what people judged."""
    return mix in (VERDICTS, CORRECTIONS)


def sources_of(mix: str) -> tuple[str, ...]:
    """Name in words what a mix adds to the base taxonomy, in order."""
    added = (*(source.words for source in SOURCES), VERDICTS, CORRECTIONS)
    return added[: MIXES.index(mix)]


def mix_before(mix: str) -> str:
    """Return the mix that `mix`, which is not the base, adds its source to."""
    return LAST if reads_feedback(mix) else MIXES[MIXES.index(mix) - 1]


def training_variants(source: PairSource, data: Path = DATA) -> pl.DataFrame:
    """Read what training may use of a source's variants: schema `VARIANTS`."""
    return _variants(source, source.trains, data)


def earlier_variants(stage: str, data: Path = DATA) -> pl.DataFrame:
    """Read all variants of the sources before that of `stage`, trained on or not."""
    frames = [_variants(source, pl.lit(True), data) for source in _before(stage)]
    return pl.concat([pl.DataFrame(schema=dict(VARIANTS)), *frames])


def earlier_queries(stage: str, data: Path = DATA) -> pl.DataFrame:
    """Read the queries, of all splits, of `split` and the sources before that of `stage`."""
    stages = ["split", *(source.stage for source in _before(stage))]
    return pl.concat(read_frame(data / name / "queries.parquet", QUERIES) for name in stages)


def _variants(source: PairSource, which: pl.Expr, data: Path) -> pl.DataFrame:
    """Read schema `VARIANTS` of a file that may have further columns."""
    path = data / source.stage / "variants.parquet"
    frame = read_parquet(path).filter(which)
    return check(frame.select(cs.by_name(*VARIANTS, require_all=False)), VARIANTS, str(path))


def _before(stage: str) -> tuple[PairSource, ...]:
    return SOURCES[: [source.stage for source in SOURCES].index(stage)]
