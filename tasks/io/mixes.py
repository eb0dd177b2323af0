"""The sources of training pairs, in order, and the mixes of them that networks are trained on.

The mix `base` has the taxonomy's pairs; each source adds its pairs to the mix before and gives its
name to the new mix (Neculoiu et al. 2016, section 4.2). `verdicts` and `corrections` both follow
the last source. A source also writes queries, from whose strings no later stage may learn. A new
source is a line here, its stage, and its entries in `dvc.yaml` and `params.yaml`.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import polars as pl
import polars.selectors as cs

from tasks.io.frames import Schema, check, read_frame, read_parquet
from tasks.io.schemas import QUERIES, VARIANTS

DATA = Path("data")


class PairSource(NamedTuple):
    """A stage that writes `data/STAGE/{variants,queries}.parquet`; its mix has the stage's name.

    `name` is that of its pairs and of its share in `pairs.shares`; `trains` selects the variants
    that are trained on.
    """

    stage: str
    name: str
    trains: pl.Expr = pl.lit(True)


SOURCES = (
    PairSource("typos", "typo"),
    PairSource("synonyms", "synonym"),
    PairSource("extra_words", "extra_words", pl.col("split") == "train"),
)
BASE = "base"
LAST = SOURCES[-1].stage  # the mix whose predictions are judged; those with feedback follow it
VERDICTS, CORRECTIONS = "verdicts", "corrections"
MIXES = (BASE, *(source.stage for source in SOURCES), VERDICTS, CORRECTIONS)
PAPER_NUMBERS = {
    BASE: "0",
    "typos": "1",
    "synonyms": "2",
    "extra_words": "3",
    VERDICTS: "4",
    CORRECTIONS: "4c",
}
"""Numbers of the models in Neculoiu et al. 2016, Table 3; `4c` is ours, and a mix that the paper
has not has none. Draws of pairs are seeded by them."""
PAIR_SOURCES = ("base", *(source.name for source in SOURCES), "feedback")
"""Names of the column `source` of a pairs file; an index here is the code of a name."""
BEFORE_FEEDBACK = (*(source.stage for source in SOURCES), "split")
"""Stages whose queries every later stage knows."""
FEEDBACK = "feedback"  # the stage whose queries are judged titles of the split `gate`
WRITERS = (*BEFORE_FEEDBACK, FEEDBACK)  # stages with queries, in the order of every table


def checked_mix(mix: str) -> str:
    """Return `mix`; ValueError if there is none."""
    if mix not in MIXES:
        raise ValueError(f"{mix!r} is no mix; choose {', '.join(MIXES)}")
    return mix


def reads_feedback(mix: str) -> bool:
    """Tell whether a mix learns from people's verdicts."""
    return mix in (VERDICTS, CORRECTIONS)


def sources_of(mix: str) -> tuple[str, ...]:
    """Name in words what a mix adds to the base taxonomy, in order."""
    return tuple(name.replace("_", " ") for name in MIXES[1 : MIXES.index(mix) + 1])


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
    return _queries(["split", *(source.stage for source in _before(stage))], data)


def read_queries(split: str, data: Path = DATA) -> pl.DataFrame:
    """Read the rows of `split` (`test`, `valid` or `gate`) of every stage's file: `QUERIES`."""
    with_feedback = split == "gate" and (data / FEEDBACK / "queries.parquet").is_file()
    frames = _queries(WRITERS if with_feedback else BEFORE_FEEDBACK, data)
    return frames.filter(pl.col("split") == split)


def queried_strings(data: Path = DATA) -> set[str]:
    """Return the normalized titles of all queries, of every split, of the stages before feedback.

    No stage may learn from them; the stage `feedback` keeps its own apart.
    """
    return set(_queries(BEFORE_FEEDBACK, data)["normalized"])


def read_learned(mix: str, name: str, schema: Schema, data: Path = DATA) -> pl.DataFrame:
    """Read a file of the stage `feedback`; no rows for a mix that learns from no feedback.

    A stage that reads so depends on `data/pairs/MIX/metrics.json`, which holds the files' hash: so
    a mix without feedback does not wait for the stage.
    """
    if reads_feedback(mix):
        return read_frame(data / FEEDBACK / f"{name}.parquet", schema)
    return pl.DataFrame(schema=dict(schema))


def _queries(stages: Iterable[str], data: Path) -> pl.DataFrame:
    return pl.concat(read_frame(data / stage / "queries.parquet", QUERIES) for stage in stages)


def _variants(source: PairSource, which: pl.Expr, data: Path) -> pl.DataFrame:
    """Read schema `VARIANTS` of a file that may have further columns."""
    path = data / source.stage / "variants.parquet"
    frame = read_parquet(path).filter(which)
    return check(frame.select(cs.by_name(*VARIANTS, require_all=False)), VARIANTS, str(path))


def _before(stage: str) -> tuple[PairSource, ...]:
    return SOURCES[: MIXES.index(stage) - 1]
