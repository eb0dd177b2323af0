"""Vacancy titles with an occupation each, in halves by the hash of the normalized title."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import NamedTuple

import polars as pl

from models.search.index import AliasIndex
from tasks.io.title_readings import with_readings
from tasks.pipeline.ingest.inputs import read_inputs
from tasks.pipeline.ingest.params import InputsParams
from tasks.tables.rejected import RejectedRows

FILE = "jobbert/titles.csv"
COLUMNS = {"raw_title": "vacancyTitle", "occupation_id": "conceptUri"}
FOLDS = 5


class Halves(NamedTuple):
    """Titles that a model may learn from (`known`), and those that figures are of (`queried`).

    Columns `query_id, raw_title, occupation_id, cleaned, normalized`; the same normalized title
    never stands in both.
    """

    known: pl.DataFrame
    queried: pl.DataFrame


def read_halves(folder: Path, index: AliasIndex, half: str) -> Halves:
    """Read the titles whose occupation is in the index.

    Args:
        folder: of the publishers' files.
        index: of all aliases.
        half: `odd`: the odd half is queried and the even one known; `even`: only that is queried;
            `choice`: a fifth of it is queried and the rest of it known, to choose parameters by.
    """
    params = InputsParams(
        reader="table", file=str(folder / FILE), columns=COLUMNS, delimiter="", encoding=""
    )
    rows = read_inputs(params, set(index.occupations), RejectedRows())
    query_id = pl.format("jobbert-{}", "input_id").alias("query_id")
    titles = with_readings(rows.select(query_id, "raw_title", "occupation_id"))
    hashes = [hashlib.sha256(name.encode()).digest() for name in titles["normalized"]]
    odd = pl.Series([digest[-1] % 2 == 1 for digest in hashes])
    if half == "odd":
        return Halves(titles.filter(~odd), titles.filter(odd))
    if half == "even":
        return Halves(titles.clear(), titles.filter(~odd))
    fold = pl.Series([digest[0] % FOLDS == 0 for digest in hashes])
    return Halves(titles.filter(~odd & ~fold), titles.filter(~odd & fold))
