"""Figures of everyday titles with answers by hand (`tasks/evaluation/everyday.py`)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from benchmarks.product.figures import CONFIDENT
from benchmarks.product.systems import OURS
from benchmarks.results import Row
from tasks.evaluation.everyday import read_everyday

if TYPE_CHECKING:
    import pandas as pd

ESCO = Path(__file__).parents[2] / "data/esco"
SURE, LIKELY = 0.9, 0.5
GROUPS = {
    "english": pl.col("language") == "en",
    "other_languages": pl.col("language") != "en",
    "all": pl.lit(True),
}


def everyday_titles(half: str) -> pl.DataFrame:
    """Read a half: `raw_title, language, kind`, the right `occupation_ids` and `two_digits`."""
    codes = dict(pl.read_parquet(ESCO / "occupations.parquet").iter_rows())
    rows = read_everyday(ESCO / "everyday.csv", half)
    digits = [[codes[name][:2] for name in own] for own in rows["occupation_ids"]]
    return rows.with_columns(pl.Series("two_digits", digits, pl.List(pl.String)))


def everyday_figures(half: str, titles: pl.DataFrame, answers: pd.DataFrame) -> Iterator[Row]:
    """Yield the figures of each group of languages; `answers` follow `titles`.

    An abstention is wrong where the title is clear. Of vague titles every occupation is wrong.
    """
    sure = answers["confidence"].to_numpy(dtype=float, na_value=np.nan)
    pairs = zip(answers["occupation_id"], titles["occupation_ids"].to_list(), strict=True)
    right = np.array([name in gold for name, gold in pairs])
    codes = zip(answers["codes"], titles["two_digits"].to_list(), strict=True)
    broadly = np.array([any(code in gold for code in own[1:2]) for own, gold in codes])
    kind = titles["kind"].to_numpy()
    for group, condition in GROUPS.items():
        own = titles.select(condition.alias("own")).to_series()
        rows = np.full(len(titles), own.to_numpy())
        figures = {
            "success_at_1": right[rows & (kind == "clear")],
            "isco_2_digits": broadly[rows & (kind == "clear")],
            "wrong_at_0.8": (sure >= CONFIDENT)[rows] & ~right[rows],
            "non_jobs_answered_at_0.5": (sure >= LIKELY)[rows & (kind == "none")],
            "vague_answered_at_0.5": (sure >= LIKELY)[rows & (kind == "vague")],
            "right_at_0.9": right[rows & (sure >= SURE)],
        }
        for metric, values in figures.items():
            if len(values):
                yield Row(
                    OURS, f"everyday_{half}_{group}", metric, float(values.mean()), len(values)
                )
