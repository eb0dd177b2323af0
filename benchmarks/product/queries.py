"""The questions that are fair to a registered model, each with its gold occupations.

From the pipeline: the part `test` of labelled inputs (`annotations`), `typos`, `composition` and
`extra_words`, which nothing trains on. `heldout_alias` is left out: a registered model holds every
alias of the taxonomy. `extra_words` are inputs in which the n-gram matcher found a title, so that
test favours it. From the job board of Decorte et al. 2021 (`vacancies`), if the taxonomy is ESCO:
the even half by the last byte of the SHA-256 of the normalized title; the odd half is for studies.
"""

from __future__ import annotations

import hashlib
from collections.abc import Set
from pathlib import Path

import polars as pl

from models.text.titles import clean_title, normalize_title
from tasks.io.frames import read_frame
from tasks.io.queries import read_queries
from tasks.io.schemas import SPLIT_INPUTS

TESTS = ("annotations", "typos", "composition", "extra_words")
VACANCIES, BOARD = "vacancies", "jobbert/titles.csv"
LARGEST = 3000
"""Titles asked of a test of the pipeline; of more, so many are drawn."""
ESCO = "http://data.europa.eu/esco/"
COLUMNS = ("test", "raw_title", "cleaned", "normalized", "occupation_ids")


def queries(data: Path, board: Path, occupations: Set[str], reviewed: Set[str]) -> pl.DataFrame:
    """Read all questions: `COLUMNS`, test by test.

    Args:
        data: of the pipeline.
        board: the published file; if it cannot be asked, a printed line says why.
        occupations: the ids of the model's taxonomy.
        reviewed: normalized titles that the model looks up in people's reviews; they are left out.
    """
    parts = read_queries("test", data).select(COLUMNS)
    tests = [parts.filter(test=test) for test in TESTS]
    tests = [own if len(own) <= LARGEST else own.sample(LARGEST, seed=1) for own in tests]
    if not board.is_file():
        print(f"{VACANCIES}: left out, {BOARD} is not there; set ROLECALL_DATA to its folder")
    elif not any(name.startswith(ESCO) for name in occupations):
        print(f"{VACANCIES}: left out, the model's taxonomy has no ids of ESCO")
    else:
        inputs = read_frame(data / "split/inputs.parquet", SPLIT_INPUTS)["normalized"]
        tests.insert(0, even_half(board, occupations, set(inputs)))
    made = pl.concat(tests)
    kept = made.filter(~pl.col("normalized").is_in(list(reviewed)))
    print(f"{len(kept):,} titles, {len(made) - len(kept)} left out as people have reviewed them")
    return kept


def even_half(board: Path, occupations: Set[str], inputs: Set[str]) -> pl.DataFrame:
    """Read the even half of the board: `COLUMNS`.

    Args:
        board: columns `vacancyTitle` and `conceptUri`.
        occupations: titles of other occupations are left out.
        inputs: normalized titles that the pipeline has for inputs; these are left out, too.
    """
    rows = pl.read_csv(board).filter(pl.col("conceptUri").is_in(list(occupations)))
    titles = rows["vacancyTitle"].to_list()
    normalized = [normalize_title(title) for title in titles]
    digests = [hashlib.sha256(name.encode()).digest() for name in normalized]
    asked = [
        digest[-1] % 2 == 0 and name not in inputs
        for digest, name in zip(digests, normalized, strict=True)
    ]
    values = [[VACANCIES] * len(rows), titles, [clean_title(title) for title in titles], normalized]
    made = pl.DataFrame(
        dict(zip(COLUMNS, values, strict=False)), dict.fromkeys(COLUMNS[:-1], pl.String)
    )
    gold = pl.Series(COLUMNS[-1], [[name] for name in rows["conceptUri"]], pl.List(pl.String))
    return made.with_columns(gold).filter(pl.Series(asked, dtype=pl.Boolean))
