"""Vacancy titles with an occupation each, in halves by the hash of the normalized title."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import NamedTuple

import polars as pl

from models.ranking.index import AliasIndex
from models.text.titles import clean_title, normalize_title
from tasks.pipeline.ingest.inputs import read_inputs
from tasks.pipeline.ingest.params import InputsParams
from tasks.tables.rejected import RejectedRows

FILE = "jobbert/titles.csv"
COLUMNS = {"raw_title": "vacancyTitle", "occupation_id": "conceptUri"}
FOLDS = 5


class Halves(NamedTuple):
    """`given` may be learned from, as far as a test allows; `asked` is what figures are of.

    Columns `query_id, raw_title, cleaned, normalized, occupation_id`; the same normalized title
    never stands in both.
    """

    given: pl.DataFrame
    asked: pl.DataFrame


def read_halves(folder: Path, index: AliasIndex, asked: str) -> Halves:
    """Read the titles whose occupation is in the index.

    Args:
        folder: of the publishers' files.
        index: of all aliases.
        asked: `odd`: the odd half, with the even one given; `even`: that one, with nothing given;
            `choice`: a fifth of it, with its other titles given, to choose by.
    """
    params = InputsParams(
        reader="table", file=str(folder / FILE), columns=COLUMNS, delimiter="", encoding=""
    )
    rows = read_inputs(params, set(index.occupations), RejectedRows())
    titles = rows.select(
        pl.format("jobbert-{}", "input_id").alias("query_id"),
        "raw_title",
        pl.Series("cleaned", [clean_title(title) for title in rows["raw_title"]]),
        pl.Series("normalized", [normalize_title(title) for title in rows["raw_title"]]),
        "occupation_id",
    )
    hashes = [hashlib.sha256(name.encode()).digest() for name in titles["normalized"]]
    odd = pl.Series([digest[-1] % 2 == 1 for digest in hashes])
    if asked == "odd":
        return Halves(titles.filter(~odd), titles.filter(odd))
    if asked == "even":
        return Halves(titles.clear(), titles.filter(~odd))
    fold = pl.Series([digest[0] % FOLDS == 0 for digest in hashes])
    return Halves(titles.filter(~odd & ~fold), titles.filter(~odd & fold))
